// Volumes by the client that @hey-api/openapi-ts makes.
import assert from "node:assert/strict";
import { client } from "./hey-api/client.gen.js";
import { createVolume, deleteVolume, listVolumes, viewVolume } from "./hey-api/index.js";

client.setConfig({ baseUrl: process.env.ROOST_URL!, auth: process.env.ROOST_TOKEN! });

const { data: made } = await createVolume({ body: { label: "hey", region: "us-lake" } });
assert(made && "id" in made);
const headers = { "X-Filter": JSON.stringify({ label: { "+contains": "he" } }) };
const { data: page } = await listVolumes({ headers });
assert.deepEqual(page?.data.map((volume) => volume.id), [made.id]);
const path = { volumeId: made.id };
assert.equal((await viewVolume({ path })).data?.size, 20);
assert((await deleteVolume({ path })).data);
const { error } = await viewVolume({ path });
assert.equal(error?.errors[0]?.reason, "Not found");
console.log("@hey-api/openapi-ts: ok");
