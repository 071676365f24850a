// Prisma's own adapters: pg for PostgreSQL, libSQL for a SQLite file.
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.NODE_MODULES}/`);
const url = process.env.PRISMA_URL;
let factory;
if (url.startsWith('file:')) {
  const { PrismaLibSql } = require('@prisma/adapter-libsql');
  factory = new PrismaLibSql({ url });
} else {
  const { PrismaPg } = require('@prisma/adapter-pg');
  factory = new PrismaPg({ connectionString: url });
}
const adapter = await factory.connect();
const query = { sql: 'SELECT count(*) FROM item', args: [], argTypes: [] };
const { rows } = await adapter.queryRaw(query);
await adapter.dispose();
if (Number(rows[0][0]) !== 3) throw new Error(JSON.stringify(rows));
