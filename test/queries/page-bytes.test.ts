import assert from 'node:assert/strict';
import { maxPageBytes } from '#application/operations/paging.ts';
import type { AnyQuery } from '#application/queries/query.ts';
import { newEvent } from '#domain/shared/event.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { getFlowHistory } from '#queries/histories.ts';
import { begunFlow, versionOf } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { givenLog } from '#test/support/harness/query-harness.ts';

const versions = 30;
/** The bytes around the items of a page. */
const frameBytes = 1_000;

/** Versions of 160,000 bytes, in letters of two bytes. */
const longVersions = Array.from({ length: versions }, (_, index) =>
  newEvent('FlowVersionCreated', {
    ...{ id: versionOf(ids.flow, index + 2), flowId: ids.flow, version: index + 2, tag: `v${index + 2}` },
    flowSchema: { say: 'ü'.repeat(80_000) },
  }),
);

describe('a page about the past', () => {
  const log = givenLog({ [`flow-${ids.flow}`]: [...begunFlow(), ...longVersions] });

  /** The pages of a list, each with its items. */
  async function pagesOf(query: AnyQuery, member: string, input: Readonly<Record<string, string>>) {
    const pages: { readonly bytes: number; readonly items: number }[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof log.ask>> = await log.ask(query, {
        ...input,
        ...(cursor === null ? {} : { cursor }),
      });
      const items = (page.body as Record<string, ReadonlyArray<unknown>>)[member] ?? [];
      pages.push({ bytes: Buffer.byteLength(JSON.stringify(page.body)), items: items.length });
      cursor = page.nextCursor;
    } while (cursor !== null);
    return pages;
  }

  for (const [query, member, input, expected] of [
    [getFlowHistory, 'events', {}, versions + 3],
    [listFlowVersions, 'versions', { asOf: String(versions + 2) }, versions + 1],
    [listFlowVersions, 'versions', { asOf: String(versions + 2), sort: '-createdAt' }, versions + 1],
  ] as const) {
    it(`of ${query.about.name} ${JSON.stringify(input)} has at most 2 MiB, whatever its letters are`, async () => {
      const pages = await pagesOf(query, member, { flowId: ids.flow, ...input });
      assert.equal(pages.length, 3);
      assert.equal(
        pages.reduce((sum, { items }) => sum + items, 0),
        expected,
      );
      for (const { bytes } of pages) assert.ok(bytes <= maxPageBytes + frameBytes, `${bytes} bytes`);
      for (const { bytes } of pages.slice(0, -1)) assert.ok(bytes > maxPageBytes - 200_000, `${bytes} bytes`);
    });
  }
});
