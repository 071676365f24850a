// A small shop's statistics on SQLite or PostgreSQL, chosen by DATABASE_URL: an application that is
// neither ours nor Python, for experiments/foreign-app-node.toml. LISTEN is host:port.
'use strict'

const http = require('node:http')

const SUMS = `
  SELECT customers.country AS key, COUNT(*) AS orders, SUM(orders.cents) AS cents
  FROM orders JOIN customers ON customers.id = orders.customer_id
  WHERE orders.day BETWEEN $1 AND $2
  GROUP BY customers.country ORDER BY cents DESC, key`
const DAYS = `
  SELECT day AS key, COUNT(*) AS orders, SUM(cents) AS cents
  FROM orders WHERE day BETWEEN $1 AND $2 GROUP BY day ORDER BY day`
const CUSTOMER = `
  SELECT orders.id AS key, orders.day, orders.cents
  FROM orders WHERE customer_id = $1 ORDER BY orders.id`

/** One function for both databases: a statement with $1, $2 and its values to rows. */
function connect(url) {
  if (url.startsWith('sqlite://')) {
    const Database = require('better-sqlite3')
    const database = new Database(url.slice('sqlite://'.length), { readonly: true })
    const prepared = new Map()
    return async (sql, values) => {
      if (!prepared.has(sql)) prepared.set(sql, database.prepare(sql.replace(/\$\d/g, '?')))
      return prepared.get(sql).all(values)
    }
  }
  const { Pool, types } = require('pg')
  types.setTypeParser(types.builtins.INT8, Number)
  types.setTypeParser(types.builtins.NUMERIC, Number)
  const pool = new Pool({ connectionString: url, max: 4 })
  return async (sql, values) => (await pool.query({ name: sql.slice(0, 60), text: sql, values })).rows
}

const query = connect(process.env.DATABASE_URL)

async function answer(url) {
  const period = [Number(url.searchParams.get('from')), Number(url.searchParams.get('to'))]
  switch (url.pathname) {
    case '/countries':
      return query(SUMS, period)
    case '/days':
      return query(DAYS, period)
    case '/customer':
      return query(CUSTOMER, [Number(url.searchParams.get('id'))])
    case '/':
      return { ready: true }
  }
}

const server = http.createServer(async (request, response) => {
  try {
    const body = await answer(new URL(request.url, 'http://localhost'))
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { error: 'no such page' }))
  } catch (error) {
    response.writeHead(500, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: error.message }))
  }
})
const [host, port] = process.env.LISTEN.split(':')
server.keepAliveTimeout = 60_000
server.listen(Number(port), host)
