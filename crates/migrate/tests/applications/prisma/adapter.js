// `unixepoch-ms` is how Prisma's engine of versions 1 to 6 wrote moments; `iso8601` how its adapter does by default.
const { PrismaBetterSQLite3 } = require("@prisma/adapter-better-sqlite3");
const { PrismaPg } = require("@prisma/adapter-pg");
const url = process.env.DATABASE_URL;
const timestampFormat = process.env.MOMENTS;
module.exports = url.startsWith("sqlite:") ? new PrismaBetterSQLite3({ url: url.replace("sqlite:///", "file:") }, { timestampFormat }) : new PrismaPg({ connectionString: url });
