module.exports = { host: "127.0.0.1", port: 0, logger: { config: { level: "error" } }, app: { keys: ["one", "two"] } };
