import { makeManyFlows } from './many-flows.ts';
import { besideOtherTenant } from './other-tenant.ts';
import { getRequest, sendAndReadNothing } from './unread-requests.ts';

const exports = 300;
const heldMs = 15_000;

/** Connections of one key that export the audit and read nothing. */
export default besideOtherTenant({
  title: `${exports} exports that are not read`,
  prepare: makeManyFlows,
  attack: (service, { key }) =>
    sendAndReadNothing(service, exports, getRequest('/v1/audit', key, 'Accept: application/x-ndjson'), heldMs),
});
