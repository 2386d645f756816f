import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { commands } from '#commands/table.ts';
import { isShortenedOnPurpose, streamKinds } from '#domain/stream-kinds.ts';

describe('streamKinds', () => {
  it('names the streams of every entity that a command reads or writes', () => {
    const entities = commands.flatMap(({ entity, access: { subject } }) =>
      subject === null ? [entity] : [entity, subject.entity],
    );
    for (const { category } of entities) assert.ok(streamKinds.includes(category), category);
  });

  it('names the streams of every entity of the domain', () => {
    const sources = globSync('src/domain/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const categories = sources.flatMap((source) => [...source.matchAll(/ category: '(\w+)'/g)].map(([, name]) => name));
    assert.ok(categories.length >= 10);
    for (const category of categories) assert.ok(streamKinds.includes(String(category)), category);
  });

  it('names no kind twice, and none with a hyphen', () => {
    assert.equal(new Set(streamKinds).size, streamKinds.length);
    for (const kind of streamKinds) assert.doesNotMatch(kind, /-/);
  });
});

describe('isShortenedOnPurpose', () => {
  it('holds for the streams of usage alone', () => {
    const shortened = streamKinds.filter((kind) => isShortenedOnPurpose(`${kind}-2026-01-05-node`));
    assert.deepEqual(shortened, ['usage']);
  });
});
