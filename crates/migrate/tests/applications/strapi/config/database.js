// The address is DATABASE_URL's.
const url = process.env.DATABASE_URL;
const sqlite = { client: "sqlite", connection: { filename: url.replace("sqlite:///", "") }, useNullAsDefault: true };
module.exports = { connection: url.startsWith("sqlite:") ? sqlite : { client: "postgres", connection: { connectionString: url } } };
