import { projections } from '#projections/table.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import type { SharedStores } from '../surroundings.ts';
import type { WorldLog } from './world-log.ts';

const maxShown = 2;

/** Finds documents that are not what the service's own projections make of the log. */
export function findWrongDocuments({ events }: WorldLog, { documents }: SharedStores): ReadonlyArray<string> {
  const folded = new ReadModel(events);
  return projections.flatMap(({ name }) => {
    const wanted = folded.texts(name);
    const found = documents.texts(name);
    const ids = new Set([...wanted.keys(), ...found.keys()]);
    const wrong = [...ids].filter((id) => wanted.get(id) !== found.get(id));
    return wrong.slice(0, maxShown).map((id) => `the document ${id} of ${name} contradicts the log`);
  });
}
