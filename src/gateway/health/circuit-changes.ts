import type { GatewayHealth } from '#domain/usage/gateway-health.ts';
import type { CircuitChange } from './target-health.ts';

const maxChanges = 100;

type Change = GatewayHealth['circuitChanges'][number];

export class CircuitChanges {
  #changes: ReadonlyArray<Change> = [];

  add({ target, state, error }: CircuitChange): void {
    const time = new Date().toISOString();
    const change = {
      time,
      target: target.id,
      circuit: state,
      code: error?.code ?? null,
      status: error?.status ?? null,
    };
    this.#changes = [change, ...this.#changes.slice(0, maxChanges - 1)];
  }

  /** The changes, the newest first. */
  list(): ReadonlyArray<Change> {
    return this.#changes;
  }
}
