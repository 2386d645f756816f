import type { ProjectionInfo } from '#projection-engine/hosting/projector-messages.ts';
import { PositionWaiter, type WaitOutcome } from './position-waiter.ts';

/** Those who wait until projections have passed a position. */
export class ProjectionWaiter extends PositionWaiter {
  /** In the order in which it is told where the projections stand. */
  #facts: ReadonlyArray<ProjectionInfo> = [];

  /** Tells which projections there are, before anybody waits for one. */
  learn(facts: ReadonlyArray<ProjectionInfo>): void {
    this.#facts = facts;
  }

  /** Waits for those that handle one of some types, as far as they follow the log. */
  forTypes(types: ReadonlyArray<string>, position: number, timeoutMilliseconds: number): Promise<WaitOutcome> {
    const places = this.#places(({ types: handled }) => types.some((type) => handled.includes(type)));
    return this.wait(places, position, false, timeoutMilliseconds);
  }

  /** Waits for those with some names, whether or not they follow the log. */
  forNames(names: ReadonlyArray<string>, position: number, timeoutMilliseconds: number): Promise<WaitOutcome> {
    const places = this.#places(({ name }) => names.includes(name));
    return this.wait(places, position, true, timeoutMilliseconds);
  }

  #places(wanted: (facts: ProjectionInfo) => boolean): ReadonlyArray<number> {
    return this.#facts.flatMap((facts, index) => (wanted(facts) ? [index] : []));
  }
}
