// Volumes by openapi-fetch, with the types that openapi-typescript makes.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "./openapi-typescript/schema.js";

const client = createClient<paths>({
  baseUrl: process.env.ROOST_URL!,
  headers: { Authorization: `Bearer ${process.env.ROOST_TOKEN}` },
});

const { data: made } = await client.POST("/v4/volumes", {
  body: { label: "fetch", region: "us-lake" },
});
assert(made && "id" in made);
const header = { "X-Filter": JSON.stringify({ label: { "+contains": "fet" } }) };
const { data: page } = await client.GET("/v4/volumes", { params: { header } });
assert.deepEqual(page?.data.map((volume) => volume.id), [made.id]);
const params = { path: { volumeId: made.id } };
assert.equal((await client.GET("/v4/volumes/{volumeId}", { params })).data?.size, 20);
assert((await client.DELETE("/v4/volumes/{volumeId}", { params })).data);
const { error } = await client.GET("/v4/volumes/{volumeId}", { params });
assert.equal(error?.errors[0]?.reason, "Not found");
console.log("openapi-typescript and openapi-fetch: ok");
