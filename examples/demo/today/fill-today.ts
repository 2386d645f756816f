import * as t from 'io-ts';
import { BatchRecord } from '#domain/batch/record.ts';
import { FileRecord } from '#domain/file/record.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { StoreRecord } from '#domain/store/store.ts';
import type { Filled } from '#examples/demo/fill.ts';
import type { PlatformClient } from '#examples/demo/platform-client.ts';
import type { ModelCalls } from './model-calls.ts';

const batchLines = 24;
/** Drafts of the partner's own flow, by their tags. They are not active. */
const drafts = {
  shorter: 'Good day!',
  longer: 'Parley Voice, good day. How can we help you?',
  friendly: 'Hello there!',
};
const houseRules = `Opening hours: Monday to Friday, eight to six.
Parking: behind the house. Dogs are welcome in the waiting room.
`;

export interface Today {
  /** The address to which webhooks are sent. */
  readonly receiver: string;
  readonly calls: ModelCalls;
  readonly print: (line: string) => void;
}

/**
 * Adds what has no past: a webhook, files, stores, batches, and calls of models.
 * @param operator with the admin key
 * @throws DemoError
 */
export async function fillToday(
  operator: PlatformClient,
  { partner, welcome }: Filled,
  { receiver, calls, print }: Today,
): Promise<void> {
  const own = operator.as(partner.secret);
  // The pages of files, stores and batches show the project of the key that is signed in.
  const clients = [own, operator];
  const batches = [];
  for (const client of clients) {
    await addStore(client);
    batches.push(await startBatch(client));
  }
  print('for the partner and for the operator, a store House rules and a batch');
  print(`${await calls.makeMany()} calls of models, of which the sandbox answers most`);
  for (const [index, client] of clients.entries()) {
    const { completed, total } = (await endOfBatch(client, batches[index] ?? '')).request_counts;
    print(`batch: ${completed} of ${total} calls completed`);
  }
  const endpoint = { url: receiver, eventTypes: [], description: 'Refuses one request in four, which is repeated' };
  await own.post('/v1/webhook-endpoints', endpoint, t.type({ id: t.string }));
  for (const [tag, say] of Object.entries(drafts)) {
    await own.post(`/v1/flows/${welcome}/versions`, { tag, flowSchema: { say } }, FlowVersionRecord);
  }
  print('webhook to this process, which refuses its first delivery');
}

async function addStore(client: PlatformClient): Promise<void> {
  const { id: fileId } = await upload(client, 'assistants', 'house-rules.txt', houseRules);
  const body = { name: 'House rules', description: 'What callers ask most' };
  const { id } = await client.post('/v1/stores', body, StoreRecord);
  await client.post(`/v1/stores/${id}/files`, { file_id: fileId }, t.unknown);
}

async function startBatch(client: PlatformClient): Promise<string> {
  const input = await upload(client, 'batch', 'reminders.jsonl', linesOfBatch());
  const body = { input_file_id: input.id, endpoint: '/v1/chat/completions', completion_window: '24h' };
  return (await client.post('/v1/batches', body, BatchRecord)).id;
}

function endOfBatch(client: PlatformClient, id: string): Promise<BatchRecord> {
  return client.readUntil(`/v1/batches/${id}`, BatchRecord, ({ status }) => ended.has(status));
}

const ended = new Set(['completed', 'failed', 'expired', 'cancelled']);

function upload(client: PlatformClient, purpose: string, name: string, text: string): Promise<FileRecord> {
  const form = new FormData();
  form.set('purpose', purpose);
  form.set('file', new Blob([text]), name);
  return client.upload('/v1/files', form, FileRecord);
}

function linesOfBatch(): string {
  return Array.from({ length: batchLines }, (_, index) =>
    JSON.stringify({
      custom_id: `reminder-${index + 1}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'quick', messages: [{ role: 'user', content: `Remind patient ${index + 1} of the check-up.` }] },
    }),
  ).join('\n');
}
