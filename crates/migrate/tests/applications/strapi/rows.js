// `tables`: Strapi makes them. `fill`: articles, tags, people. `read`: all rows of all models. `change`: inserted, edited,
// published, deleted. `sign-in`: the administrator, who reads and writes an article over HTTP.
const assert = require("node:assert");
const { createStrapi } = require("@strapi/strapi");

const choice = (number, ...values) => values[number % values.length];
const article = (number, tags, author) => ({
  title: `Straße ${number} "quoted" \\ O'Hara`, slug: `slug-${number}`, text: choice(number, null, "", "x".repeat(5000)), rich: choice(number, "# 日本語\n", null), mail: `a${number}@example.org`,
  blocks: [{ type: "paragraph", children: [{ type: "text", text: `€😀 ${number}` }] }], json: choice(number, { ü: { 1: [true, null, 2.5] } }, [], null, 7),
  secret: "secret", integer: choice(number, -(2 ** 31), 2 ** 31 - 1, null), big: choice(number, "9007199254740991", "-9007199254740991", null, "0"),
  price: choice(number, 0.01, 12345678.12, -1.5, null), ratio: (number * 2) / 3, yes: choice(number, true, false, null), size: choice(number, "small", "large", null),
  day: choice(number, "2024-02-29", "1900-01-01", null), clock: choice(number, "00:00:00", "23:59:59.999", null), moment: choice(number, "2026-03-29T01:30:00.123Z", "1969-07-20T20:17:40.000Z", null),
  stamp: choice(number, "2026-03-29T01:30:00.123Z", null), tags: tags.filter((_, index) => (number + index) % 2).map((tag) => tag.documentId), author: author?.id,
  parts: [1, 2].map((one) => ({ text: `part ${one}`, weight: number * 0.25, moment: "2026-01-01T00:00:00.000Z", tag: tags[0].documentId })),
  zone: [{ __component: "part.line", text: `zone ${number}`, weight: 1 }],
});

async function fill(strapi) {
  const [articles, tags, users] = ["api::article.article", "api::tag.tag", "plugin::users-permissions.user"].map((name) => strapi.documents(name));
  await strapi.plugin("i18n").service("locales").create({ code: "de", name: "German" });
  const role = await strapi.service("admin::role").getSuperAdmin();
  await strapi.service("admin::user").create({ email: "ann@example.org", firstname: "Ann", lastname: "O'Härä", password: "Secret0fAnn", isActive: true, registrationToken: null, roles: [role.id] });
  await strapi.service("admin::api-token").create({ name: "token", type: "read-only", lifespan: null, description: "" });
  const { id } = await strapi.db.query("plugin::users-permissions.role").findOne({ where: { type: "authenticated" } });
  const user = await users.create({ data: { username: "bob", email: "bob@example.org", password: "secret", confirmed: true, blocked: false, role: id, provider: "local" } });
  const made = [];
  for (const name of ["one", "two", "three"]) made.push(await tags.create({ data: { name, parent: made[0]?.documentId } }));
  for (let number = 1; number <= 20; number++) {
    const { documentId } = await articles.create({ data: article(number, made, choice(number, null, user)), status: choice(number, "draft", "published") });
    if (number % 5 === 0) await articles.update({ documentId, locale: "de", data: { title: `deutsch ${number}` } });
    if (number > 18) await articles.delete({ documentId, locale: "*" });
  }
}

// What the clock and chance give to changes.
const CHANGING = ["documentId", "createdAt", "updatedAt", "publishedAt", "secret", "password", "resetPasswordToken", "registrationToken", "accessKey", "encryptedKey"];

async function read(strapi) {
  for (const { uid, attributes } of strapi.db.metadata.values()) {
    const kept = (key) => process.argv[3] !== "changed" || !CHANGING.includes(key);
    // PostgreSQL sorts the keys of its jsonb and ends no time in zeros, in rows that Strapi wrote there too.
    const sorted = (_, value) => (Object.prototype.toString.call(value) === "[object Object]" ? Object.fromEntries(Object.entries(value).sort()) : value);
    const told = (key, value) => [Object.prototype.toString.call(value).slice(8, -1), key === "clock" ? value?.replace(/\.000$/, "") : value];
    // Strapi draws a minute for its statistics at each start.
    const rows = await strapi.db.query(uid).findMany(uid === "strapi::core-store" ? { where: { key: { $ne: "plugin_upload_metrics" } } } : {});
    const lines = rows.map((row) => JSON.stringify(Object.fromEntries(Object.keys(attributes).filter((key) => key in row && kept(key)).map((key) => [key, told(key, row[key])])), sorted));
    for (const line of lines.sort()) console.log(uid, line.replaceAll(',"', ', "'));
  }
}

async function change(strapi) {
  const [articles, tags] = ["api::article.article", "api::tag.tag"].map((name) => strapi.documents(name));
  const made = await tags.findMany({ sort: "id" });
  made.push(await tags.create({ data: { name: "new" } }));
  await assert.rejects(tags.create({ data: { name: "new" } }));
  await articles.create({ data: article(100, made), status: "published" });
  const of = async (slug) => (await articles.findFirst({ filters: { slug } })).documentId;
  await articles.update({ documentId: await of("slug-2"), data: article(102, made) });
  await articles.publish({ documentId: await of("slug-4") });
  await articles.unpublish({ documentId: await of("slug-3") });
  await articles.delete({ documentId: await of("slug-5"), locale: "*" });
  await tags.delete({ documentId: made[1].documentId });
  await strapi.db.query("plugin::users-permissions.user").update({ where: { username: "bob" }, data: { username: "edited" } });
  // Questions with a value of each type find the same rows.
  const questions = [{ yes: true }, { moment: { $gt: "2000-01-01T00:00:00.000Z" } }, { day: { $lt: "2000-01-01" } }, { price: { $gt: 0.005 } }, { big: "9007199254740991" },
    { size: "large" }, { clock: "23:59:59.999" }, { rich: { $contains: "日本" } }, { tags: { name: "one" } }, { parts: { weight: { $gt: 1 } } }, { author: { username: "edited" } }];
  for (const filters of questions) await tags.create({ data: { name: `${JSON.stringify(filters)}: ${await articles.count({ filters })} rows` } });
}

async function signIn(strapi) {
  await new Promise((done) => strapi.server.listen(0, "127.0.0.1", done));
  const at = `http://127.0.0.1:${strapi.server.httpServer.address().port}`;
  let token;
  const send = async (path, body) => {
    const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
    const answer = await fetch(at + path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
    return { status: answer.status, ...(await answer.json()) };
  };
  const articles = "/content-manager/collection-types/api::article.article";
  assert.equal((await send(articles)).status, 401);
  assert.equal((await send("/admin/login", { email: "ann@example.org", password: "wrong" })).status, 400);
  token = (await send("/admin/login", { email: "ann@example.org", password: "Secret0fAnn" })).data.token;
  assert.ok((await send(`${articles}?_q=Stra`)).results.length > 5);
  assert.equal((await send(articles, { title: "written over HTTP", slug: "written" })).status, 201);
  for (const path of ["/admin/users/me", "/admin/roles", "/i18n/locales", "/users-permissions/roles", "/content-manager/collection-types/api::tag.tag"]) assert.equal((await send(path)).status, 200, path);
}

// The folder that a build would make is this one.
const app = createStrapi({ appDir: process.cwd(), distDir: process.cwd() });
app.load()
  .then(() => ({ tables() {}, fill, read, change, "sign-in": signIn })[process.argv[2]](app))
  .then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
  });
