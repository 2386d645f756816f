/**
 * In DATA_DIR, apart from the event store and the read models, which may be elsewhere. `private-files.ts` restricts
 * each of them to its owner.
 */
export const dataDatabases = {
  records: 'records.db',
  subjectKeys: 'subject-keys.db',
  webhookDeliveries: 'webhook-deliveries.db',
  gatewayCalls: 'gateway-calls.db',
  responses: 'responses.db',
} as const;

/** Files in DATA_DIR, restricted like the databases. */
export const dataFiles = {
  lock: 'lock.sqlite',
  owner: 'owner.json',
  format: 'format.json',
  digestKey: 'digest-key.pem',
  reserve: 'reserve',
} as const;
