// `fill`: rows of every model. `read`: all of them. `change`: of each table a row inserted, one edited, one deleted.
const assert = require("node:assert");
const { IsNull, LessThan, MoreThan } = require("typeorm");
const source = require("./source");

const of = (name) => source.getRepository(name);
const uuid = (number) => `aaaaaaaa-bbbb-4ccc-8ddd-${String(number).padStart(12, "0")}`;
const choice = (number, ...values) => values[number % values.length];
const at = new Date(Date.UTC(2026, 2, 29, 1, 30, 0, 123));

const field = (number) => ({
  name: `name ${number} O'Hara \\`, text: choice(number, null, "", "x".repeat(5000)), plain: choice(number, null, "Straße\n日本語"),
  integer: choice(number, -(2 ** 31), 2 ** 31 - 1, null), small: choice(number, -32768, 32767), big: choice(number, 2 ** 53 - 1, -(2 ** 53) + 1, 0),
  price: choice(number, 0, 0.01, 1234567890.12), ratio: (number * 2) / 3, real: choice(number, 0.5, 3), yes: number % 2 === 1, perhaps: choice(number, null, true, false),
  moment: new Date(Date.UTC(2024, 9, 27, 0, 30, 0, number)), momentOrNone: choice(number, null, new Date(0), new Date("1969-07-20T20:17:40.123Z")),
  day: choice(number, "1900-01-01", "2024-02-29", null), clock: choice(number, "00:00:00", "23:59:59", "12:30:15"), uuid: uuid(number), uuidOrNone: choice(number, null, uuid(number)),
  json: choice(number, {}, [1, 2.5, null, true], { ü: { 1: "€😀" } }, null), list: choice(number, null, ["a", "b c"]), size: choice(number, "small", "large"),
  blob: choice(number, Buffer.from([0, 255, number]), null), since: at, edited: at,
});

async function fill() {
  await of("Field").insert(Array.from({ length: 60 }, (_, index) => field(index + 1)));
  await of("Field").delete({ id: MoreThan(57) });
  await of("Field").softDelete([5, 6]);
  const teams = await of("Team").save(["one", "two", "three", "four"].map((name) => ({ name })));
  for (let number = 1; number <= 20; number++) {
    const person = await of("Person").save({ id: uuid(number), fullName: `person ${number}`, boss: number > 3 ? { id: uuid((number % 3) + 1) } : null, teams: [choice(number, ...teams)] });
    await of("Profile").save({ person, about: `about ${number}` });
  }
  for (let number = 1; number <= 3; number++) await of("Line").insert({ document: 1, number, text: `text ${number}` });
}

// A value with its type; numbers that pg returns as texts, as numbers.
function told(value, { type }) {
  if (value !== null && ["decimal", "bigint"].includes(type)) value = Number(value);
  if (Buffer.isBuffer(value)) return ["Buffer", value.toString("hex")];
  return [Object.prototype.toString.call(value).slice(8, -1), value];
}

async function read() {
  for (const { name, columns, relations } of source.entityMetadatas.filter((one) => one.tableType === "regular")) {
    const related = Object.fromEntries(relations.map((relation) => [relation.propertyName, true]));
    const rows = await of(name).find({ withDeleted: true, relations: related });
    const lines = rows.map((row) => {
      const values = columns.filter((column) => !column.relationMetadata).map((column) => [column.propertyName, told(row[column.propertyName], column)]);
      const others = Object.keys(related).map((key) => [key, [row[key]].flat().map((one) => one?.id ?? null).sort()]);
      return JSON.stringify(Object.fromEntries([...values, ...others]));
    });
    for (const line of lines.sort()) console.log(name, line.replaceAll(',"', ', "'));
  }
}

async function change() {
  const { identifiers } = await of("Field").insert(field(100));
  assert.equal(identifiers[0].id, 61);
  const { name, uuid: one, uuidOrNone, ...others } = field(101);
  await of("Field").update(2, others);
  await of("Field").update({ yes: true, perhaps: false }, { perhaps: true, edited: at });
  await of("Field").delete(3);
  await of("Field").restore(5);
  await of("Field").update(5, { edited: at });
  await of("Field").increment({ id: 4 }, "small", 1);
  await of("Field").update(4, { edited: at });
  const team = await of("Team").save({ name: "new" });
  assert.equal(team.id, 5);
  await of("Team").update({ name: "one" }, { name: "edited" });
  const person = await of("Person").save({ id: uuid(100), fullName: "new", boss: { id: uuid(1) }, teams: [team] });
  await of("Person").update(uuid(2), { fullName: "edited" });
  await of("Person").delete(uuid(3));
  await of("Profile").save({ person, about: "new" });
  await of("Profile").update(1, { about: "edited" });
  await of("Profile").delete(2);
  await of("Line").insert({ document: 2, number: 1, text: "new" });
  await of("Line").update({ document: 1, number: 1 }, { text: "edited" });
  await of("Line").delete({ document: 1, number: 2 });
  await of("Empty").save([{ name: "one" }, { name: "two" }]);
  await of("Empty").delete(1);
  // Questions with a value of each type find the same rows.
  const questions = [{ yes: true }, { perhaps: false }, { moment: MoreThan(new Date(Date.UTC(2024, 9, 27, 0, 30, 0, 30))) }, { day: LessThan("2000-01-01") },
    { price: MoreThan(0.005) }, { uuid: uuid(7) }, { size: "large" }, { clock: "12:30:15" }, { big: 2 ** 53 - 1 }, { uuidOrNone: IsNull() }];
  for (const where of questions) await of("Empty").save({ name: `${await of("Field").count({ where })} rows` });
  // What the rules refuse is refused.
  for (const wrong of [{ name: field(7).name }, { uuidOrNone: uuid(7) }, { price: -1 }]) {
    await assert.rejects(of("Field").insert({ ...field(200), ...wrong }));
  }
}

source.initialize()
  .then(() => ({ fill, read, change })[process.argv[2]]())
  .then(() => source.destroy(), (error) => {
    console.error(error);
    process.exit(1);
  });
