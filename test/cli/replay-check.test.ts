import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkReplay } from '#cli/replay/replay-check.ts';

const fixtures = join(import.meta.dirname, '../fixtures');

describe('npm run replay -- check', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'replay-'));
    for (const part of ['events', 'records']) cpSync(join(fixtures, part), join(folder, part), { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const change = (file: string, from: string, to: string) => {
    const text = readFileSync(join(folder, file), 'utf8');
    assert.ok(text.includes(from));
    writeFileSync(join(folder, file), text.replace(from, to));
  };

  it('gets the recorded documents from every event shape that was ever written', () => {
    const { events, differences } = checkReplay(fixtures, false);
    assert.deepEqual(differences, []);
    assert.equal(events, readdirSync(join(fixtures, 'records')).length);
  });

  it('names the first place at which a document differs, with both values', () => {
    change('records/FlowRenamed.v1.json', '"name": "', '"name": "Other ');
    const { differences } = checkReplay(folder, false);
    assert.equal(differences.length, 1);
    assert.match(differences[0] ?? '', /^FlowRenamed\.v1\.json: \/documents\/flows\/c\w+\/record\/name was "Other /);
  });

  it('finds a change of an event’s sentence', () => {
    change('records/FlowRenamed.v1.json', 'The flow was renamed', 'The flow was called');
    assert.match(checkReplay(folder, false).differences.join(), /^FlowRenamed\.v1\.json: \/history\/summary was /);
  });

  it('finds an event that can no longer be read', () => {
    change('events/FlowRenamed.v1.json', '"schemaVersion": 1', '"schemaVersion": 9');
    assert.throws(() => checkReplay(folder, false), /FlowRenamed has schema version 9/);
  });

  it('finds records without an event and an event without records, and writes missing records on request', () => {
    rmSync(join(folder, 'records/FlowCreated.v1.json'));
    writeFileSync(join(folder, 'records/FlowPainted.v1.json'), '{}');
    assert.deepEqual(checkReplay(folder, false).differences, [
      'FlowPainted.v1.json: records are kept of it, and it is not a frozen event any more',
      'FlowCreated.v1.json: no records are kept of it; run npm run replay -- check --write',
    ]);
    assert.equal(checkReplay(folder, true).differences.length, 1);
    const [written, kept] = [folder, fixtures].map((each) =>
      JSON.parse(readFileSync(join(each, 'records/FlowCreated.v1.json'), 'utf8')),
    );
    assert.deepEqual(written, kept);
  });
});
