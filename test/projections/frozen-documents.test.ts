import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnyProjection, eventTypesOf } from '#projection-engine/projection.ts';
import { flows } from '#projections/flows.ts';
import { projections } from '#projections/table.ts';
import {
  type DocumentHashes,
  differencesOf,
  hashDocuments,
  hashesToKeep,
  type KeptHashes,
  readFrozenStories,
} from '#test/support/fixtures/document-hashes.ts';

const fixtures = join(import.meta.dirname, '../fixtures');
const file = join(fixtures, 'document-hashes.json');
const rewrite = 'run WRITE_FIXTURES=1 npx mocha test/projections/frozen-documents.test.ts';

describe('the documents of frozen events', () => {
  const stories = readFrozenStories(fixtures);
  const readKept = (): Readonly<Record<string, KeptHashes>> => JSON.parse(readFileSync(file, 'utf8'));
  const found = new Map<string, DocumentHashes>();
  let kept = readKept();

  before(() => {
    for (const projection of projections) found.set(projection.name, hashDocuments(projection, stories));
    if (process.env.WRITE_FIXTURES !== '1') return;
    writeFileSync(file, `${JSON.stringify(toKeep(), null, 2)}\n`);
    kept = readKept();
  });

  const documentsOf = (projection: AnyProjection) => found.get(projection.name) ?? assert.fail();
  const toKeep = () =>
    Object.fromEntries(
      projections.map((each) => [each.name, hashesToKeep(each.version, documentsOf(each), kept[each.name])]),
    );

  for (const projection of projections) {
    const { name, version } = projection;
    it(`are those of version ${version} in the read model ${name}`, () => {
      const differences = differencesOf(projection, documentsOf(projection), kept[name], rewrite);
      assert.equal(differences.length, 0, differences.join('\n'));
      assert.notEqual(Object.keys(documentsOf(projection)).length, 0, `no frozen event reaches ${name}`);
    });
  }

  it('have an event of each type that a projection handles', () => {
    const types = new Set(stories.flatMap(({ events }) => events.map(({ type }) => type)));
    const handled = new Set(projections.flatMap(eventTypesOf));
    assert.deepEqual(
      [...handled].filter((type) => !types.has(type)),
      [],
    );
  });

  it('of no other read model have hashes', () => {
    assert.deepEqual(
      Object.keys(kept),
      projections.map(({ name }) => name),
    );
  });

  describe('when a projection makes another document of the same events', () => {
    const inFlows = () => kept.flows ?? assert.fail();
    const changed = (version: number): AnyProjection => {
      const describe = flows.on.FlowDescribed as unknown as (...given: unknown[]) => object | null;
      const FlowDescribed = (...given: unknown[]) => ({ ...describe(...given), isDescribed: true });
      return {
        ...(flows as AnyProjection),
        version,
        on: { ...flows.on, FlowDescribed } as unknown as AnyProjection['on'],
      };
    };

    it('name the read model, the document and what to do', () => {
      const projection = changed(flows.version);
      const differences = differencesOf(projection, hashDocuments(projection, stories), inFlows(), rewrite);
      const first = differences.find((each) => each.includes('FlowDescribed')) ?? '';
      assert.match(first, /^The document FlowDescribed\.v1\.json c\w+ of the read model flows has changed/);
      assert.ok(first.includes('raise `version` of the projection flows'));
      assert.ok(first.endsWith(`Then ${rewrite}.`));
      assert.ok(differences.every((each) => each.startsWith('The document ')));
    });

    it('keep their hashes until the version is raised', () => {
      const documents = hashDocuments(changed(flows.version), stories);
      assert.deepEqual(hashesToKeep(flows.version, documents, inFlows()), inFlows());
      const raised = changed(flows.version + 1);
      assert.match(
        differencesOf(raised, documents, inFlows(), rewrite).join(),
        /^The read model flows has version \d, /,
      );
      assert.deepEqual(hashesToKeep(raised.version, documents, inFlows()), { version: raised.version, documents });
    });
  });
});
