// `fill`: rows of every model. `read`: all of them. `change`: of each table a row inserted, one edited, one deleted.
const assert = require("node:assert");
const { Op, DataTypes } = require("sequelize");
const { open } = require("./models");

const { sequelize, Fields, People, Teams, Memberships, Empties } = open();

const uuid = (number) => `aaaaaaaa-bbbb-4ccc-8ddd-${String(number).padStart(12, "0")}`;
const choice = (number, ...values) => values[number % values.length];

const fields = (number) => ({
  string: `string ${number} O'Hara \\`, plain: choice(number, null, "", "Straße\n日本語"), char: "abcde", text: choice(number, null, "x".repeat(5000)),
  integer: choice(number, -(2 ** 31), 2 ** 31 - 1, null), big: choice(number, 2 ** 53 - 1, -(2 ** 53) + 1, 0), small: choice(number, -32768, 32767),
  float: choice(number, 0.1, -2.5, 1e30), real: choice(number, 0.5, 3), double: (number * 2) / 3, price: choice(number, 0, 0.01, 1234567890.12, -5),
  yes: number % 2 === 1, perhaps: choice(number, null, true, false), moment: new Date(Date.UTC(2024, 9, 27, 0, 30, 0, number)),
  precise: choice(number, null, new Date(0), new Date("1969-07-20T20:17:40.123Z")), day: choice(number, "1900-01-01", "2024-02-29", null),
  clock: choice(number, "00:00:00", "23:59:59", "12:30:15"), uuid: uuid(number), json: choice(number, {}, [1, 2.5, null, true], { ü: { "1": "€😀" } }, null),
  blob: choice(number, Buffer.from([0, 255, number]), null), size: choice(number, "small", "large", null),
});

async function fill() {
  for (let number = 1; number <= 60; number++) await Fields.create(fields(number));
  await Fields.destroy({ where: { id: { [Op.gt]: 57 } }, force: true });
  await Fields.destroy({ where: { id: [5, 6] } });
  for (let number = 1; number <= 20; number++) {
    await People.create({ id: uuid(number), name: `person ${number}`, bossId: number > 3 ? uuid(number % 3 + 1) : null });
  }
  for (let number = 1; number <= 4; number++) {
    const team = await Teams.create({ "Team Name": `team ${number}` });
    await team.addPeople([uuid(number), uuid(number + 4)], { through: { since: "2024-02-29" } });
  }
}

// A value with its type; numbers that pg returns as texts, as numbers.
function told(value, type) {
  if (value !== null && (type instanceof DataTypes.DECIMAL || type instanceof DataTypes.BIGINT)) value = Number(value);
  if (Buffer.isBuffer(value)) return ["Buffer", value.toString("hex")];
  return [Object.prototype.toString.call(value).slice(8, -1), value];
}

async function read() {
  for (const model of [Fields, People, Teams, Memberships, Empties]) {
    const rows = await model.findAll({ paranoid: false });
    const lines = rows.map((row) => {
      const values = Object.entries(model.getAttributes()).map(([name, { type }]) => [name, told(row.get(name), type)]);
      return JSON.stringify(Object.fromEntries(values), (_, value) => value instanceof Object && !Array.isArray(value) && Object.fromEntries(Object.entries(value).sort()) || value);
    });
    for (const line of lines.sort()) console.log(model.name, line.replaceAll(',"', ', "'));
  }
  for (const team of await Teams.findAll({ include: People, order: ["id"] })) console.log("Memberships", team.id, team.People.map((one) => one.id).sort().join());
}

async function change() {
  const silent = { silent: true };
  const at = new Date(Date.UTC(2026, 2, 29, 1, 30, 0, 123));
  const add = (model, values) => model.create({ createdAt: at, updatedAt: at, ...values }, silent);
  const row = await add(Fields, fields(100));
  assert.equal(row.id, 61);
  const { string, uuid: _, ...others } = fields(101);
  await Fields.update(others, { where: { id: 2 }, ...silent });
  await Fields.update({ perhaps: true }, { where: { yes: true, perhaps: false }, ...silent });
  await Fields.destroy({ where: { id: 3 }, force: true });
  await Fields.increment({ integer: -1, big: -1 }, { where: { id: 4 }, ...silent });
  await Fields.update({ deletedAt: null }, { where: { id: 5 }, paranoid: false, ...silent });
  const person = await add(People, { id: uuid(100), name: "new", bossId: uuid(1) });
  await People.update({ name: "edited" }, { where: { id: uuid(2) }, ...silent });
  await People.destroy({ where: { id: uuid(3) } });
  const team = await Teams.create({ "Team Name": "new" });
  assert.equal(team.id, 5);
  await team.addPerson(person, { through: { since: "2026-01-01" } });
  await Teams.update({ "Team Name": "edited" }, { where: { "Team Name": "team 1" } });
  await Memberships.update({ since: null }, { where: { TeamId: 1 } });
  await Teams.destroy({ where: { id: 2 } });
  for (const name of ["one", "two"]) await Empties.create({ name });
  await Empties.destroy({ where: { id: 1 } });
  // Questions with a value of each type find the same rows.
  const questions = [{ yes: true }, { perhaps: false }, { moment: { [Op.gt]: new Date(Date.UTC(2024, 9, 27, 0, 30, 0, 30)) } }, { day: { [Op.lt]: "2000-01-01" } },
    { price: { [Op.gt]: 0.005 } }, { uuid: uuid(7) }, { size: "large" }, { clock: "12:30:15" }, { big: 2 ** 53 - 1 }];
  for (const where of questions) await Empties.create({ name: `${await Fields.count({ where })} rows` });
  // What the rules refuse is refused.
  for (const wrong of [{ string: row.string }, { uuid: uuid(7) }, { price: null }]) {
    await assert.rejects(add(Fields, { ...fields(200), ...wrong }));
  }
  await assert.rejects(add(People, { id: uuid(101), bossId: uuid(999) }));
}

({ fill, read, change })[process.argv[2]]().then(() => sequelize.close(), (error) => {
  console.error(error);
  process.exit(1);
});
