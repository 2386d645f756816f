import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AuditEntry } from '#dashboard/page/api/records.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Card, Empty, Loaded } from '#dashboard/page/parts/boxes.ts';
import { Feed } from '#dashboard/page/parts/feed.ts';
import { isProgress } from '#dashboard/page/text/progress-events.ts';

const shown = 10;
const readEntries = 40;

interface Page {
  readonly entries: ReadonlyArray<AuditEntry>;
}

/** Shows the latest changes, with new ones at the top. */
export function LatestChanges(): VNode {
  const { api, live, names } = useSession();
  const page = useData<Page>('the latest changes', { kinds: [], everyMs: 30_000 }, async (signal) => {
    const read = await api.get<Page>(`/v1/audit?limit=${readEntries}`, signal);
    names.learnFrom(read.entries, true);
    return read;
  });
  const [fresh, setFresh] = useState<ReadonlyArray<AuditEntry>>([]);
  useEffect(
    () =>
      live.onEntry((entry) => {
        if (entry === null) page.reload();
        else {
          names.learnFrom([entry], true);
          setFresh((was) => [entry, ...was].slice(0, readEntries));
        }
      }),
    [],
  );
  const isFresh = new Set(fresh.map(({ position }) => position));
  const items = (read: ReadonlyArray<AuditEntry>) =>
    [...fresh, ...read.filter(({ position }) => !isFresh.has(position))]
      .filter((entry) => !isProgress(entry))
      .slice(0, shown)
      .map((entry) => ({
        ...entry,
        key: `${entry.position} ${entry.resource.id}`,
        isNew: isFresh.has(entry.position),
      }));
  return html`<${Card} id="latest" title="Latest changes" note="of all keys" aside=${html`<a href=${addressOf('audit')}>Audit</a>`}>
    <${Loaded} data=${page} rows=${8}>${({ entries }: Page) =>
      entries.length === 0 && fresh.length === 0
        ? html`<${Empty} title="No changes yet">This list shows the changes of all keys, newest first.<//>`
        : html`<${Feed} items=${items(entries)} />`}<//>
  <//>`;
}
