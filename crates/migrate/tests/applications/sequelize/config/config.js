const url = process.env.DATABASE_URL;
const config = url.startsWith("sqlite:")
  ? { dialect: "sqlite", storage: url.replace(/^sqlite:\/\//, ""), logging: false }
  : { use_env_variable: "DATABASE_URL", dialect: "postgres", logging: false };
module.exports = { development: config };
