import type { ProjectionInfo } from '#projection-engine/hosting/projector-messages.ts';
import { PositionWaiter, type WaitOutcome } from './position-waiter.ts';

/** Holds callers until projections, by event types or by names, have passed a position. */
export class ProjectionWaiter extends PositionWaiter {
  /** In the order of the positions that `update` gets. */
  #facts: ReadonlyArray<ProjectionInfo> = [];

  /** Sets which projections exist. Must be called before the first wait. */
  setProjections(facts: ReadonlyArray<ProjectionInfo>): void {
    this.#facts = facts;
  }

  /** Waits for the projections that handle one of these event types and follow the log. */
  forTypes(types: ReadonlyArray<string>, position: number, timeoutMs: number): Promise<WaitOutcome> {
    const places = this.#places(({ types: handled }) => types.some((type) => handled.includes(type)));
    return this.wait(places, position, false, timeoutMs);
  }

  /** Waits for the projections with these names, whether or not they follow the log. */
  forNames(names: ReadonlyArray<string>, position: number, timeoutMs: number): Promise<WaitOutcome> {
    const places = this.#places(({ name }) => names.includes(name));
    return this.wait(places, position, true, timeoutMs);
  }

  #places(wanted: (facts: ProjectionInfo) => boolean): ReadonlyArray<number> {
    return this.#facts.flatMap((facts, index) => (wanted(facts) ? [index] : []));
  }
}
