import assert from 'node:assert/strict';
import { newEvent } from '#domain/shared/event.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { begunFlow, versionOf } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { givenLog } from '#test/support/harness/query-harness.ts';

const versionOfSize = (version: number, characters: number) =>
  newEvent('FlowVersionCreated', {
    id: versionOf(ids.flow, version),
    flowId: ids.flow,
    version,
    tag: `v${version}`,
    flowSchema: { say: 'x'.repeat(characters) },
  });

describe('a page of a past list', () => {
  /** The versions on each page, and the characters of each page. */
  async function pagesOf(sort: 'createdAt' | '-createdAt') {
    const sizes = [700_000, 700_000, 700_000, 2_500_000, 10];
    const events = [...begunFlow(), ...sizes.map((size, index) => versionOfSize(index + 2, size))];
    const log = givenLog({ [`flow-${ids.flow}`]: events });
    const pages: number[][] = [];
    const input = { flowId: ids.flow, asOf: String(events.length - 1), sort };
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer = await log.ask(listFlowVersions, cursor === '' ? input : { ...input, cursor });
      const { versions } = answer.body as { readonly versions: ReadonlyArray<{ readonly version: number }> };
      pages.push(versions.map(({ version }) => version));
      cursor = answer.nextCursor;
    }
    return pages;
  }

  it('ends before the item with which it would be larger than 2 MiB, and has one item at least', async () => {
    assert.deepEqual(await pagesOf('createdAt'), [[1, 2, 3], [4], [5], [6]]);
    assert.deepEqual(await pagesOf('-createdAt'), [[6], [5], [4, 3], [2, 1]]);
  });
});
