// `fill`: rows of every model. `read`: all of them. `change`: of each table a row inserted, one edited, one deleted.
const assert = require("node:assert");
const adapter = require("./adapter");
const { Prisma, PrismaClient } = require(`./${process.env.DATABASE_URL.split(":")[0]}/client`);

const client = new PrismaClient({ adapter });
const of = (name) => client[name[0].toLowerCase() + name.slice(1)];
const id = (number) => `person${String(number).padStart(4, "0")}`;
const choice = (number, ...values) => values[number % values.length];
const at = new Date(Date.UTC(2026, 2, 29, 1, 30, 0, 123));

const field = (number) => ({
  name: `name ${number} O'Hara \\`, text: choice(number, null, "", "x".repeat(5000), "Straße\n日本語"), integer: choice(number, -(2 ** 31), 2 ** 31 - 1, null),
  big: choice(number, 2n ** 63n - 1n, -(2n ** 63n), 0n, null), price: choice(number, "0", "0.01", "1234567890.12"), ratio: (number * 2) / 3, yes: number % 2 === 1,
  perhaps: choice(number, null, true, false), moment: new Date(Date.UTC(2024, 9, 27, 0, 30, 0, number)), maybe: choice(number, null, new Date(0), new Date("1969-07-20T20:17:40.123Z")),
  uuid: `aaaaaaaa-bbbb-4ccc-8ddd-${String(number).padStart(12, "0")}`, json: choice(number, {}, [1, 2.5, null, true], { ü: { 1: "€😀" } }, "text", Prisma.JsonNull, Prisma.DbNull),
  size: choice(number, "small", "large"), blob: choice(number, Buffer.from([0, 255, number]), null), createdAt: at, updatedAt: at,
});

async function fill() {
  for (let number = 1; number <= 60; number++) await of("Field").create({ data: field(number) });
  await of("Field").deleteMany({ where: { id: { gt: 57 } } });
  for (const name of ["one", "two", "three", "four"]) await of("Team").create({ data: { name } });
  for (let number = 1; number <= 20; number++) {
    const boss = number > 3 ? { boss: { connect: { id: id((number % 3) + 1) } } } : {};
    const lines = { create: [1, 2].map((one) => ({ number: one, text: `line ${one}` })) };
    await of("Person").create({ data: { id: id(number), name: `person ${number}`, ...boss, teams: { connect: [{ id: (number % 4) + 1 }] }, profile: { create: { about: `about ${number}` } }, lines } });
  }
}

function told(value) {
  if (value instanceof Uint8Array) return ["Bytes", Buffer.from(value).toString("hex")];
  if (Prisma.Decimal.isDecimal(value)) return ["Decimal", value.toString()];
  return [Object.prototype.toString.call(value).slice(8, -1), typeof value === "bigint" ? String(value) : value];
}

async function read() {
  for (const { name, fields } of Prisma.dmmf.datamodel.models) {
    const lists = Object.fromEntries(fields.filter((one) => one.isList).map((one) => [one.name, true]));
    const rows = await of(name).findMany({ include: Object.keys(lists).length ? lists : undefined });
    const lines = rows.map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).map(([key, value]) =>
      [key, key in lists ? value.map((one) => one.id ?? one.number).sort() : told(value)]))));
    for (const line of lines.sort()) console.log(name, line.replaceAll(',"', ', "'));
  }
}

async function change() {
  assert.equal((await of("Field").create({ data: field(100) })).id, 61);
  const { name, uuid, ...others } = field(101);
  await of("Field").update({ where: { id: 2 }, data: others });
  await of("Field").updateMany({ where: { perhaps: true, yes: true }, data: { perhaps: false, updatedAt: at } });
  await of("Field").update({ where: { id: 4 }, data: { price: { increment: 1 }, integer: { set: 5 }, updatedAt: at } });
  await of("Field").delete({ where: { id: 3 } });
  assert.equal((await of("Team").create({ data: { name: "new" } })).id, 5);
  await of("Team").update({ where: { name: "one" }, data: { name: "edited", people: { disconnect: { id: id(4) }, connect: { id: id(5) } } } });
  await of("Person").create({ data: { id: id(100), name: "new", boss: { connect: { id: id(1) } }, teams: { connect: { id: 5 } }, profile: { create: { about: "new" } } } });
  await of("Person").delete({ where: { id: id(3) } });
  await of("Profile").update({ where: { personId: id(1) }, data: { about: "edited" } });
  await of("Line").update({ where: { personId_number: { personId: id(1), number: 1 } }, data: { text: "edited" } });
  await of("Line").delete({ where: { personId_number: { personId: id(1), number: 2 } } });
  await of("Line").upsert({ where: { personId_number: { personId: id(2), number: 9 } }, create: { personId: id(2), number: 9, text: "new" }, update: {} });
  // Questions with a value of each type find the same rows.
  const questions = [{ yes: true }, { perhaps: false }, { moment: { gt: new Date(Date.UTC(2024, 9, 27, 0, 30, 0, 30)) } }, { maybe: { lt: new Date(0) } }, { price: { gt: "0.005" } },
    { uuid: field(7).uuid }, { size: "large" }, { big: 2n ** 63n - 1n }, { json: { equals: [1, 2.5, null, true] } }, { blob: Buffer.from([0, 255, 8]) }, { text: { contains: "日本" } }];
  for (const [number, where] of questions.entries()) await of("Team").create({ data: { name: `question ${number}: ${await of("Field").count({ where })} rows` } });
  // What the rules refuse is refused.
  await assert.rejects(of("Field").create({ data: { ...field(200), name: field(7).name } }));
  await assert.rejects(of("Line").create({ data: { personId: "nobody", number: 1, text: "" } }));
}

({ fill, read, change })[process.argv[2]]()
  .then(() => client.$disconnect(), (error) => {
    console.error(error);
    process.exit(1);
  });
