import { makeManyFlows } from './many-flows.ts';
import { besideOtherTenant } from './other-tenant.ts';
import { getRequest, sendAndReadNothing } from './unread-requests.ts';

const connections = 250;
const requestsOfConnection = 4;
const heldMs = 15_000;

/** Connections of one key that ask for pages of the audit of 2 MiB, several at the same time, and read nothing. */
export default besideOtherTenant({
  title: `${connections} connections that ask for ${requestsOfConnection} pages of the audit and read nothing`,
  prepare: makeManyFlows,
  attack: (service, { key }) =>
    sendAndReadNothing(service, connections, getRequest('/v1/audit', key).repeat(requestsOfConnection), heldMs),
});
