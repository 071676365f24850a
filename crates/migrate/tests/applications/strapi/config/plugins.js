module.exports = { "users-permissions": { config: { jwtSecret: "secret" } } };
