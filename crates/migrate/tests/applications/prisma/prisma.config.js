// Prisma's engine for tables in JavaScript, on the same adapter as the client.
const folder = process.env.DATABASE_URL.split(":")[0];
const adapter = async () => require("./adapter");
module.exports = { schema: `${folder}/schema.prisma`, experimental: { adapter: true }, engine: "js", adapter };
