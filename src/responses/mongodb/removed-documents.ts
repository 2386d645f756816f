import type { LogCollection } from '#mongodb/log-collection.ts';
import { keyOf, type ResponseDocument } from './response-document.ts';

/** The indexes that find what needs a response, and the deleted responses that are due. */
export const removalIndexes = [
  { project: 1, needs: 1 },
  { deleted: 1, project: 1, removableAt: 1 },
] as const;

const removedAtOnce = 32;
/** A deleted response that others need is due after this time, and earlier when one of these is removed. */
const recheckMs = 24 * 60 * 60_000;

type Removable = Pick<ResponseDocument, '_id' | 'response' | 'previous' | 'needs' | 'bytes' | 'ancestors'>;

const read = { projection: { response: 1, previous: 1, needs: 1, bytes: 1, ancestors: 1 } } as const;

/** A response that release 0.4 has deleted has no time, so it is due. */
function isDueAt(time: number) {
  return { deleted: true, removableAt: { $not: { $gt: time } } };
}

/** The responses that were checked, and the bytes of those that were removed. */
interface RemovedSome {
  readonly ids: ReadonlyArray<string>;
  readonly bytes: number;
}

/**
 * Removes the deleted responses that no other one needs, where there are no transactions. A response is marked before
 * the search for what needs it, and a new response reads that mark after it is stored: one of both finds the other.
 * What a removed response has needed is due before it is removed. So the end of a process between any two steps leaves
 * only what the next removal finds.
 */
export class RemovedDocuments {
  readonly #responses: LogCollection<ResponseDocument>;

  constructor(responses: LogCollection<ResponseDocument>) {
    this.#responses = responses;
  }

  /** Projects with deleted responses that are due. Each is the next one beyond the last. */
  async projects(limit: number): Promise<ReadonlyArray<string>> {
    const found: string[] = [];
    while (found.length < limit) {
      const beyond = { ...isDueAt(Date.now()), project: { $gt: found.at(-1) ?? '' } };
      const next = await this.#responses.call((all) =>
        all
          .find(beyond, { projection: { project: 1 } })
          .sort({ project: 1 })
          .limit(1)
          .toArray(),
      );
      if (next[0] === undefined) break;
      found.push(next[0].project);
    }
    return found;
  }

  async removeSome(project: string): Promise<RemovedSome> {
    const due = await this.#due(project);
    if (due.length === 0) return { ids: [], bytes: 0 };
    const ids = due.map(({ response }) => response);
    const isOneOf = { _id: { $in: due.map(({ _id }) => _id) }, deleted: true };
    const now = Date.now();
    await this.#responses.call((all) => all.updateMany(isOneOf, { $set: { isRemoved: true, removableAt: now } }));
    const kept = await this.#neededOf(project, due);
    const gone = due.filter(({ response }) => !kept.has(response));
    await this.#remove(project, gone, now);
    const stays = due.filter(({ response }) => kept.has(response)).map(({ _id }) => _id);
    const later = { $set: { isRemoved: false, removableAt: now + recheckMs } };
    if (stays.length > 0) await this.#responses.call((all) => all.updateMany({ _id: { $in: stays } }, later));
    return { ids, bytes: gone.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** The documents that are due, and the deleted ones before the first of them, which may be removable after it. */
  async #due(project: string): Promise<ReadonlyArray<Removable>> {
    const isDue = { ...isDueAt(Date.now()), project };
    const due = await this.#responses.call((all) =>
      all.find(isDue, read).sort({ removableAt: -1 }).limit(removedAtOnce).toArray(),
    );
    const [first] = due;
    if (first === undefined || due.length >= removedAtOnce / 2) return due;
    const before = first.ancestors ?? (first.previous === null ? [] : [first.previous]);
    const keys = before.slice(0, removedAtOnce - due.length).map((id) => keyOf(project, id));
    if (keys.length === 0) return due;
    const deleted = await this.#responses.call((all) =>
      all.find({ _id: { $in: keys }, deleted: true }, read).toArray(),
    );
    return [...new Map([...due, ...deleted].map((each) => [each._id, each])).values()];
  }

  /** The ids of those that others need, or that one of them needs which stays itself. */
  async #neededOf(project: string, due: ReadonlyArray<Removable>): Promise<ReadonlySet<string>> {
    const byId = new Map(due.map((each) => [each.response, each]));
    const isOther = { $nin: [...byId.keys()] };
    const found = await Promise.all(
      due.map(({ response: needs }) =>
        this.#responses.call((all) => all.findOne({ project, needs, response: isOther }, { projection: { _id: 1 } })),
      ),
    );
    const waiting = due.filter((_, index) => found[index] !== null);
    const kept = new Set<string>();
    for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
      if (kept.has(each.response)) continue;
      kept.add(each.response);
      waiting.push(...each.needs.flatMap((id) => byId.get(id) ?? []));
    }
    return kept;
  }

  async #remove(project: string, gone: ReadonlyArray<Removable>, now: number): Promise<void> {
    if (gone.length === 0) return;
    const needed = [...new Set(gone.flatMap(({ needs }) => needs))].map((id) => keyOf(project, id));
    const isNeeded = { _id: { $in: needed }, deleted: true };
    if (needed.length > 0)
      await this.#responses.call((all) => all.updateMany(isNeeded, { $set: { removableAt: now } }));
    await this.#responses.call((all) => all.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) } }));
  }
}
