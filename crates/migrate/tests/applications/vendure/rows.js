// `tables`: Vendure makes them. `fill`: a shop by its importer, orders and more by its GraphQL. `read`: all rows of its
// entities. `change`: by GraphQL inserted, edited, deleted. `sign-in`: the administrator and a customer, who orders.
const assert = require("node:assert");
const { writeFileSync } = require("node:fs");
const { bootstrap, bootstrapWorker, DefaultLogger, dummyPaymentHandler, LogLevel, TransactionalConnection } = require("@vendure/core");
const { populate } = require("@vendure/core/cli");

const url = process.env.DATABASE_URL;
const where = url.startsWith("sqlite:") ? { type: "better-sqlite3", database: url.replace("sqlite:///", "") } : { type: "postgres", url };
const config = {
  apiOptions: { port: 0, hostname: "127.0.0.1", adminApiPath: "admin-api", shopApiPath: "shop-api" },
  authOptions: { tokenMethod: "bearer", superadminCredentials: { identifier: "ann", password: "secret of ann" }, requireVerification: false },
  dbConnectionOptions: { ...where, synchronize: true }, paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] }, logger: new DefaultLogger({ level: LogLevel.Error }),
  customFields: { Product: [{ name: "day", type: "datetime" }, { name: "weight", type: "float" }, { name: "fragile", type: "boolean" }, { name: "links", type: "string", list: true }] },
};
const shop = {
  defaultLanguage: "en", defaultZone: "Europe", countries: [{ name: "Österreich", code: "AT", zone: "Europe" }, { name: "Canada", code: "CA", zone: "Americas" }],
  taxRates: [{ name: "Standard", percentage: 20 }, { name: "Reduced", percentage: 5.5 }], shippingMethods: [{ name: "Post", price: 500 }],
  paymentMethods: [{ name: "Dummy", handler: { code: "dummy-payment-handler", arguments: [{ name: "automaticSettle", value: "true" }] } }],
  collections: [{ name: "Red ones", filters: [{ code: "facet-value-filter", args: { facetValueNames: ["red"], containsAny: true } }] }],
};
const csv = ["name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets",
  ...Array.from({ length: 12 }, (_, one) => `Straße ${one} 日本語,slug-${one},"a ""text"" \\",,color:${one % 2 ? "red" : "blue"},size,small,A${one},${one}.99,Standard,100,true,,\n,,,,,,large,B${one},10.5,Reduced,50,false,,`)];

// Questions to a started shop, as whom it signs in.
async function client(app) {
  let token = "";
  const ask = async (kind, query, variables) => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
    const answer = await fetch(`${(await app.getUrl())}/${kind}-api`, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
    token = answer.headers.get("vendure-auth-token") ?? token;
    const { data, errors } = await answer.json();
    assert.ok(!errors && !JSON.stringify(data).includes("errorCode"), JSON.stringify(errors ?? data));
    return data;
  };
  const signIn = (kind, name, password) => ask(kind, "mutation($name: String!, $password: String!) { login(username: $name, password: $password) { ... on CurrentUser { id } ... on ErrorResult { errorCode } } }", { name, password });
  return { admin: (...more) => ask("admin", ...more), shop: (...more) => ask("shop", ...more), signIn };
}

async function order({ shop }, variant, mail) {
  const wrong = "... on ErrorResult { errorCode message }";
  await shop(`mutation { addItemToOrder(productVariantId: ${variant}, quantity: 2) { ... on Order { id } ${wrong} } }`);
  await shop(`mutation { addItemToOrder(productVariantId: ${variant + 1}, quantity: 1) { ... on Order { id } ${wrong} } }`);
  if (mail) await shop(`mutation { setCustomerForOrder(input: { firstName: "Bob", lastName: "O'Härä", emailAddress: "${mail}" }) { ... on Order { id } ${wrong} } }`);
  await shop('mutation { setOrderShippingAddress(input: { fullName: "Bob", streetLine1: "Gasse 1", city: "Wien", postalCode: "1010", countryCode: "AT" }) { ... on Order { id } ... on ErrorResult { errorCode } } }');
  const { eligibleShippingMethods: [{ id }] } = await shop("{ eligibleShippingMethods { id } }");
  await shop(`mutation { setOrderShippingMethod(shippingMethodId: [${id}]) { ... on Order { id } ${wrong} } }`);
  await shop(`mutation { transitionOrderToState(state: "ArrangingPayment") { ... on Order { id } ... on OrderStateTransitionError { errorCode transitionError } } }`);
  return shop(`mutation { addPaymentToOrder(input: { method: "dummy", metadata: { note: "€😀" } }) { ... on Order { code state } ${wrong} } }`);
}

async function fill(app) {
  for (let number = 1; number <= 6; number++) await order(await client(app), number, `bob${number % 3}@example.org`);
  const ann = await client(app);
  await ann.signIn("admin", "ann", "secret of ann");
  await ann.admin('mutation { updateProducts(input: [{ id: 1, customFields: { day: "2026-03-29T01:30:00.123Z", weight: 0.1, fragile: true, links: ["a", "ü"] } }, { id: 2, customFields: { day: "1969-07-20T20:17:40Z", weight: -1e-7, fragile: false } }]) { id } }');
  await ann.admin('mutation { createPromotion(input: { enabled: true, couponCode: "half", startsAt: "2026-01-01T00:00:00.000Z", translations: [{ languageCode: en, name: "half" }], conditions: [], actions: [{ code: "order_percentage_discount", arguments: [{ name: "discount", value: "50" }] }] }) { ... on Promotion { id } ... on ErrorResult { errorCode } } }');
  await ann.admin('mutation { createCustomer(input: { firstName: "Eve", lastName: "Ü", emailAddress: "eve@example.org" }, password: "secret of eve") { ... on Customer { id } ... on ErrorResult { errorCode } } }');
  await ann.admin('mutation { createCustomerGroup(input: { name: "friends", customerIds: [1, 2] }) { id } }');
  await ann.admin("mutation { deleteProduct(id: 12) { result } }");
}

// What the clock and chance give to changes.
const CHANGING = ["createdAt", "updatedAt", "deletedAt", "orderPlacedAt", "token", "expires", "passwordHash", "lastLogin", "code", "identifier", "settledAt", "data", "transactionId"];

async function read(app) {
  const { entityMetadatas, manager } = app.get(TransactionalConnection).rawConnection;
  for (const { name, target, columns, relations } of entityMetadatas.filter((one) => one.tableType === "regular")) {
    const kept = new Set([...columns, ...relations].map((one) => one.propertyPath.split(".")[0]).filter((key) => process.argv[3] !== "changed" || !CHANGING.includes(key)));
    const rows = await manager.find(target, { withDeleted: true, loadRelationIds: true });
    const told = (value) => [Object.prototype.toString.call(value).slice(8, -1), Array.isArray(value) ? value.sort() : value ?? null];
    const lines = rows.map((row) => JSON.stringify(Object.fromEntries([...kept].map((key) => [key, told(row[key])]))));
    for (const line of lines.sort()) console.log(name, line.replaceAll(',"', ', "'));
  }
}

async function change(app) {
  await order(await client(app), 9, "new@example.org");
  const ann = await client(app);
  await ann.signIn("admin", "ann", "secret of ann");
  await ann.admin('mutation { createProduct(input: { translations: [{ languageCode: en, name: "new", slug: "new", description: "" }], customFields: { day: "2026-01-01T00:00:00.000Z", weight: 2.5 } }) { id } }');
  await ann.admin('mutation { updateProduct(input: { id: 3, enabled: false, translations: [{ languageCode: de, name: "deutsch", slug: "deutsch", description: "" }] }) { id } }');
  await ann.admin('mutation { updateProductVariants(input: [{ id: 5, price: 4242, stockLevels: [{ stockLocationId: 1, stockOnHand: 7 }] }]) { id } }');
  await ann.admin("mutation { deleteProduct(id: 4) { result } deletePromotion(id: 1) { result } }");
  await ann.admin('mutation { createTaxRate(input: { name: "new", enabled: true, value: 7.25, categoryId: 1, zoneId: 1 }) { id } createFacet(input: { code: "new", isPrivate: false, translations: [{ languageCode: en, name: "new" }], values: [] }) { id } }');
  await ann.admin('mutation { updateCustomer(input: { id: 1, firstName: "edited" }) { ... on Customer { id } ... on ErrorResult { errorCode } } }');
  await ann.admin("mutation { removeCustomersFromGroup(customerGroupId: 1, customerIds: [2]) { id } }");
  // Questions with a value of each type find the same rows.
  for (const filter of ["{ day: { after: \"2000-01-01T00:00:00.000Z\" } }", "{ weight: { gt: 0.05 } }", "{ fragile: { eq: true } }", "{ name: { contains: \"日本\" } }", "{ enabled: { eq: false } }"]) {
    const { products } = await ann.admin(`{ products(options: { filter: ${filter}, sort: { id: ASC } }) { totalItems items { id } } }`);
    await ann.admin("mutation($name: String!) { createTag(input: { value: $name }) { id } }", { name: `${filter}: ${JSON.stringify(products)}` });
  }
}

async function signIn(app) {
  const [ann, eve] = [await client(app), await client(app)];
  await assert.rejects(ann.signIn("admin", "ann", "wrong"));
  await ann.signIn("admin", "ann", "secret of ann");
  const { orders, customers } = await ann.admin("{ orders { totalItems items { code total lines { quantity } } } customers { totalItems } collections { totalItems } activeAdministrator { id } }");
  assert.ok(orders.totalItems >= 7 && customers.totalItems >= 4);
  await eve.signIn("shop", "eve@example.org", "secret of eve");
  assert.equal((await order(eve, 11)).addPaymentToOrder.state, "PaymentSettled");
  const { activeCustomer } = await eve.shop("{ activeCustomer { orders { totalItems } } }");
  assert.equal(activeCustomer.orders.totalItems, 1);
}

async function started(what) {
  const app = await bootstrap(config);
  await what(app);
}

async function filled() {
  writeFileSync("products.csv", csv.join("\n"));
  await fill(await populate(() => bootstrap(config), shop, "products.csv"));
}

({ tables: () => started(() => {}), fill: filled, read: async () => read((await bootstrapWorker(config)).app), change: () => started(change), "sign-in": () => started(signIn) })[process.argv[2]]()
  .then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
  });
