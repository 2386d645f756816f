import assert from 'node:assert/strict';
import type { StoredResponses } from '#responses/stored-responses.ts';

const noLimit = { maxBytes: Number.MAX_SAFE_INTEGER, reserve: () => true };

/** Something that is done to the stored responses of a project. */
export type ConversationStep =
  | {
      readonly kind: 'add';
      readonly id: string;
      readonly previous: string | null;
      readonly referenced: ReadonlyArray<string>;
    }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'erase' };

interface ModelResponse {
  readonly previous: string | null;
  readonly needs: ReadonlyArray<string>;
  isDeleted: boolean;
}

/** Does a step, which must succeed. */
export async function perform(responses: StoredResponses, projectId: string, step: ConversationStep): Promise<void> {
  if (step.kind === 'erase') return responses.eraseProject(projectId);
  if (step.kind === 'delete') {
    assert.equal(await responses.delete(projectId, step.id), true);
    return;
  }
  const { id, previous, referenced } = step;
  const before =
    previous === null ? null : ((await responses.turns.find(projectId, previous)) ?? assert.fail(previous));
  const added = await responses.add({
    projectId,
    id,
    inputText: '"question"',
    responseText: JSON.stringify({ id, status: 'completed', output: [] }),
    provider: null,
    previous: before?.outline ?? null,
    referenced,
    names: [`item-of-${id}`],
  });
  assert.equal(added, 'stored');
}

/** What must be stored of a project after some steps. */
export class ConversationModel {
  readonly projectId: string;
  readonly #responses = new Map<string, ModelResponse>();
  readonly #everAdded = new Set<string>();

  constructor(projectId: string) {
    this.projectId = projectId;
  }

  /** The ids of the responses that can be found. */
  get found(): ReadonlyArray<string> {
    return [...this.#responses].flatMap(([id, { isDeleted }]) => (isDeleted ? [] : [id]));
  }

  apply(step: ConversationStep): void {
    if (step.kind === 'erase') this.#responses.clear();
    else if (step.kind === 'delete') this.#responseOf(step.id).isDeleted = true;
    else {
      const { id, previous, referenced } = step;
      const needs = [...(previous === null ? [] : [previous]), ...referenced];
      this.#responses.set(id, { previous, needs, isDeleted: false });
      this.#everAdded.add(id);
    }
  }

  /** Takes over what has become of a step that was not answered. @returns whether it was done */
  async settle(responses: StoredResponses, step: ConversationStep): Promise<boolean> {
    if (step.kind === 'erase') {
      // The process that erases does so again.
      await perform(responses, this.projectId, step);
      this.apply(step);
      return true;
    }
    this.#everAdded.add(step.id);
    const isFound = (await responses.turns.find(this.projectId, step.id)) !== null;
    const isDone = isFound === (step.kind === 'add');
    if (isDone) this.apply(step);
    return isDone;
  }

  /** Expects all that can be reached to be there and whole, and nothing else. */
  async expectStored(responses: StoredResponses): Promise<void> {
    for (const id of this.found) {
      const turns = await responses.turns.conversation(this.projectId, id, noLimit);
      assert.ok(Array.isArray(turns), `${id}: ${turns}`);
      const read = turns.map(({ outline }) => outline.id);
      assert.deepEqual(read, this.#chainOf(id));
    }
    const ids = [...this.#everAdded];
    const stored = new Set<string>();
    let bytes = 0;
    for (let start = 0; start < ids.length; start += 64) {
      for (const outline of await responses.store.outlines(this.projectId, ids.slice(start, start + 64))) {
        stored.add(outline.id);
        bytes += outline.bytes;
      }
    }
    assert.deepEqual([...stored].sort(), [...this.#reachable()].sort());
    const amount = await responses.amountOf(this.projectId);
    assert.deepEqual([amount.count, amount.bytes], [this.found.length, bytes]);
  }

  #chainOf(last: string): ReadonlyArray<string> {
    const chain: string[] = [];
    for (let id: string | null = last; id !== null; id = this.#responseOf(id).previous) chain.push(id);
    return chain.reverse();
  }

  #reachable(): ReadonlySet<string> {
    const reached = new Set<string>();
    const waiting = [...this.found];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (reached.has(id)) continue;
      reached.add(id);
      waiting.push(...this.#responseOf(id).needs);
    }
    return reached;
  }

  #responseOf(id: string): ModelResponse {
    return this.#responses.get(id) ?? assert.fail(`${id} is not there`);
  }
}

/** Numbers from which a step is chosen. */
export interface StepChoice {
  readonly kind: number;
  readonly first: number;
  readonly second: number;
}

/** Chooses the next step of a project: mostly responses that continue or name another one, deletions, few erasures. */
export function stepOf(
  { found }: ConversationModel,
  { kind, first, second }: StepChoice,
  id: string,
): ConversationStep {
  const one = found[first % Math.max(1, found.length + 1)] ?? null;
  if (kind >= 97) return { kind: 'erase' };
  if (kind >= 60 && one !== null) return { kind: 'delete', id: one };
  const named = found[second % Math.max(1, found.length)];
  const referenced = second % 4 === 0 && named !== undefined && named !== one ? [named] : [];
  return { kind: 'add', id, previous: one, referenced };
}
