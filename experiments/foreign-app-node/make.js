// Makes the shop's SQLite file: node make.js FILE ORDERS. The same rows every time.
'use strict'

const Database = require('better-sqlite3')

const [file, orders] = [process.argv[2], Number(process.argv[3])]
const CUSTOMERS = 5_000
const COUNTRIES = ['BR', 'DE', 'FR', 'HU', 'IN', 'JP', 'PT', 'US']

let state = 1
/** Park and Miller's generator: a whole number from 0 to limit - 1. */
const random = (limit) => (state = (state * 48_271) % 2_147_483_647) % limit

const database = new Database(file)
database.exec(`
  CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT NOT NULL);
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    day INTEGER NOT NULL,
    cents INTEGER NOT NULL
  );`)
database.transaction(() => {
  const customer = database.prepare('INSERT INTO customers VALUES (?, ?)')
  for (let id = 1; id <= CUSTOMERS; id++) customer.run(id, COUNTRIES[random(COUNTRIES.length)])
  const order = database.prepare('INSERT INTO orders VALUES (?, ?, ?, ?)')
  for (let id = 1; id <= orders; id++) order.run(id, 1 + random(CUSTOMERS), 1 + random(365), random(20_000))
})()
database.exec(`
  CREATE INDEX orders_customer ON orders (customer_id);
  CREATE INDEX orders_day ON orders (day);`)
