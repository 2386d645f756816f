import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { StoredEventDecoder } from '#cli/events/stored-event-decoder.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { seal } from '#event-store/hash-chain.ts';
import { LogError } from '#event-store/transfer/log-failure.ts';
import { exportLog } from '#event-store/transfer/log-file/export-log.ts';
import { importLog } from '#event-store/transfer/log-file/import-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { MemoryLog } from '#test/support/fakes/in-memory-log.ts';

const folder = new URL('../fixtures/events/', import.meta.url);

interface Fixture extends Omit<StoredEvent, 'data' | 'metadata'> {
  readonly data: object;
  readonly metadata: Record<string, unknown>;
}

function fixture(name: string): Fixture {
  return JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
}

function stored({ data, metadata, ...event }: Fixture): StoredEvent {
  return { ...event, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
}

const renamed = fixture('FlowRenamed.v1.json');

describe('StoredEventDecoder', () => {
  it('decodes an event of every shape that any release wrote', () => {
    for (const file of readdirSync(folder)) assert.equal(new StoredEventDecoder().faultOf(stored(fixture(file))), null);
  });

  it('describes an event that does not decode with a pointer to what is wrong', () => {
    const faultOf = (event: Fixture) => new StoredEventDecoder().faultOf(stored(event));
    assert.equal(faultOf({ ...renamed, data: { ...renamed.data, name: 7 } }), '/data/name must be a string');
    assert.equal(faultOf({ ...renamed, data: {} }), '/data/id is required, and 1 more');
    const metadata = { ...renamed.metadata, actor: { keyId: 'k' } };
    assert.equal(faultOf({ ...renamed, metadata }), '/metadata/actor/keyType is required');
    const newer = faultOf({ ...renamed, metadata: { ...renamed.metadata, schemaVersion: 2 } });
    assert.equal(newer, 'An event of type FlowRenamed has schema version 2; this release knows 1 to 1.');
    assert.match(new StoredEventDecoder().faultOf({ ...stored(renamed), data: '{' }) ?? '', /JSON/);
  });

  it('describes an old event with invalid data although its upcaster throws', () => {
    const usage = fixture('UsageRecorded.v1.json');
    assert.match(new StoredEventDecoder().faultOf(stored({ ...usage, data: {} })) ?? '', /its data is not|\/data\//);
  });

  it('counts an event of an unknown type and does not decode it', () => {
    const decoder = new StoredEventDecoder();
    for (const data of [{}, { name: 7 }])
      assert.equal(decoder.faultOf(stored({ ...renamed, type: 'Later', data })), null);
    assert.deepEqual([...decoder.unknownTypes], [['Later', 2]]);
  });

  it('refuses to import an event with an intact chain and invalid data, and names its line', async () => {
    const [created, tagged] = ['ProjectCreated.v1.json', 'ProjectRenamed.v1.json'].map(fixture);
    if (created === undefined || tagged === undefined) throw new Error('no fixtures');
    const first = sealed(created, 0, null);
    const second = sealed({ ...tagged, stream: created.stream, data: { name: null } }, 1, first.hash);
    const lines: string[] = [];
    const sink = { begun: false, held: async () => null, write: async (text: string) => void lines.push(text) };
    const { signal } = new AbortController();
    const report = () => undefined;
    const log = new MemoryLog([first.event, second.event]);
    await exportLog({ log, from: 'memory', sink, check: new LogCheck(), report, signal });
    const target = new MemoryLog();
    const source = { name: 'the file', open: () => bytesOf(lines.join('')) };
    const decoder = new StoredEventDecoder();
    const check = new LogCheck(null, (event) => decoder.faultOf(event));
    const refused = await importLog({ source, target, check, events: null, report, signal }).catch((error) => error);
    assert.ok(refused instanceof LogError);
    const place = `Line 3 of the file: revision 1 of ${created.stream}, event ${tagged.id} (ProjectRenamed)`;
    assert.equal(refused.message, `${place}, cannot be decoded: /data/name must be a string`);
    assert.deepEqual(target.events, []);
  });
});

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function sealed({ stream, id, type, data, metadata }: Fixture, revision: number, prevHash: string | null) {
  const { hash: _hash, prevHash: _prevHash, ...unsealed } = metadata;
  const { event, hash } = seal(stream, revision, prevHash, { id, type, data }, unsealed as never);
  return { event: { stream, revision, ...event }, hash };
}
