import { type AnyProjection, eventTypesOf } from '#projection-engine/projection.ts';
import type { ServedPosition } from '#read-store/published-positions.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { FromProjector } from './projector-messages.ts';

/** Sends reports from the projector thread to the main thread. */
export class ProjectorReports {
  readonly #post: (message: FromProjector) => void;
  readonly log: Logger;
  /** The last posted report as JSON. */
  #posted = '';

  constructor(post: (message: FromProjector) => void) {
    const logged =
      (level: 'info' | 'warn' | 'error'): Logger['info'] =>
      (fields, message) =>
        post({ kind: 'log', level, fields, message });
    this.#post = post;
    this.log = { info: logged('info'), warn: logged('warn'), error: logged('error') };
  }

  opened(projections: ReadonlyArray<AnyProjection>): void {
    this.#post({
      kind: 'opened',
      projections: projections.map((one) => ({ name: one.name, types: eventTypesOf(one) })),
    });
  }

  /** Reports the positions only if they differ from the last ones. */
  positions(served: ReadonlyArray<ServedPosition>): void {
    const text = JSON.stringify(served);
    if (text === this.#posted) return;
    this.#posted = text;
    this.#post({ kind: 'positions', served });
  }
}
