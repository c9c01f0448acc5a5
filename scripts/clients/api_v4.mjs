// @linode/api-v4, the JavaScript SDK: its address is built in, and changed by an interceptor, as
// applications that use it do.
import { baseRequest, createBucket, createDomain, createDomainRecord, createFirewall, createLinode,
  createObjectStorageKeys, createVolume, deleteBucketWithRegion, deleteDomain, deleteFirewall, deleteLinode,
  deleteVolume, getAccountAvailabilities, getBucket, getDatabaseTypes, getLinode, getLinodeDisks,
  getRegions, getLinodeTypes, getTickets, getVolume, getEvents, revokeObjectStorageKey, setToken,
  updateFirewallRules } from '@linode/api-v4'

const API_ROOT = 'https://api.linode.com/v4'
const URL = process.env.LINODE_URL
setToken(process.env.LINODE_TOKEN)
baseRequest.interceptors.request.use((request) => {
  request.url = request.url.replace(API_ROOT, `${URL}/v4`)
  return request
})

const where = { region: 'us-lake', type: 'g1-nano-1' }

async function until(probe) {
  for (let round = 0; round < 600; round++) {
    if (await probe()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('not so after 60 seconds')
}

function same(found, wanted) {
  if (found !== wanted) throw new Error(`${found} instead of ${wanted}`)
}

const flows = {
  'Regions and types': async () => {
    const regions = await getRegions()
    same(regions.data.some((each) => each.capabilities.includes('Linodes')), true)
    const types = await getLinodeTypes()
    same(types.data.some((each) => each.id === where.type), true)
    const there = await getAccountAvailabilities()
    same(there.data.some((each) => each.available.includes('Linodes')), true)
  },
  'Instance: create, wait, disks, events, delete': async () => {
    const made = await createLinode({
      ...where, image: 'linode/debian12', root_pass: 'aComplex@Password-7391', label: 'js-instance',
    })
    await until(async () => (await getLinode(made.id)).status === 'running')
    same((await getLinodeDisks(made.id)).data.length, 2)
    const events = await getEvents({}, { 'entity.type': 'linode', 'entity.id': made.id })
    same(events.data.some((each) => each.action === 'linode_create'), true)
    await deleteLinode(made.id)
  },
  'Volume: create, wait, delete': async () => {
    const made = await createVolume({ label: 'js-volume', region: where.region, size: 10 })
    await until(async () => (await getVolume(made.id)).status === 'active')
    await deleteVolume(made.id)
  },
  'Firewall: create, what is behind it, versions of its rules, delete': async () => {
    const instance = await createLinode({ ...where, label: 'js-behind-firewall' })
    const rules = { inbound_policy: 'DROP', outbound_policy: 'ACCEPT' }
    const made = await createFirewall({
      label: 'js-firewall', rules, devices: { linodes: [instance.id] },
    })
    same(made.entities[0].id, instance.id)
    const after = await updateFirewallRules(made.id, { ...rules, inbound_policy: 'ACCEPT' })
    same(after.version, made.rules.version + 1)
    await deleteFirewall(made.id)
    await deleteLinode(instance.id)
  },
  'Bucket and key of a region: create, view, delete': async () => {
    const made = await createBucket({ label: 'js-bucket', region: where.region })
    same(made.region, where.region)
    const key = await createObjectStorageKeys({
      label: 'js-key',
      regions: [where.region],
      bucket_access: [
        { region: where.region, bucket_name: made.label, permissions: 'read_only' },
      ],
    })
    same(key.regions[0].id, where.region)
    await until(async () => (await getBucket(where.region, made.label)).label === made.label)
    await revokeObjectStorageKey(key.id)
    await deleteBucketWithRegion({ region: where.region, label: made.label })
  },
  'Lists as the console filters them: types of databases, open tickets': async () => {
    const types = await getDatabaseTypes({}, { platform: 'rdbms-default' })
    same(types.data[0].engines.postgresql.length, 0)
    const open = await getTickets({}, { '+or': [{ status: 'open' }, { status: 'new' }] })
    same(open.data.every((each) => each.status !== 'closed'), true)
  },
  'Domain: create, record, delete': async () => {
    const made = await createDomain({
      domain: 'js.example.org', type: 'master', soa_email: 'admin@example.org',
    })
    const record = await createDomainRecord(made.id, { type: 'A', name: 'www', target: '192.0.2.4' })
    same(record.target, '192.0.2.4')
    await deleteDomain(made.id)
  },
}

for (const [text, flow] of Object.entries(flows)) {
  try {
    await flow()
    console.log(`passed\t${text}`)
  } catch (error) {
    const reason = Array.isArray(error) ? JSON.stringify(error) : String(error)
    console.log(`failed\t${text}\t${reason}`)
    process.exitCode = 1
  }
}
