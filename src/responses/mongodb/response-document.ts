import type { LogDocument } from '#mongodb/log-collection.ts';
import type { BackgroundTarget } from '../response-store.ts';

export interface ResponseDocument extends LogDocument {
  readonly project: string;
  readonly response: string;
  readonly conversation: string;
  readonly depth: number;
  readonly previous: string | null;
  readonly bytes: number;
  readonly deleted: boolean;
  readonly needs: ReadonlyArray<string>;
  readonly items: ReadonlyArray<string>;
  /** The ancestors; missing in responses of release 0.4. */
  readonly ancestors?: ReadonlyArray<string> | null;
  readonly provider: string | null;
  readonly background: BackgroundTarget | null;
  /** The subject whose key has sealed it; missing in responses of release 0.4. */
  readonly subject?: string;
  /** When a deleted response is due for removal; missing before it is deleted, or if 0.4 has deleted it. */
  readonly removableAt?: number;
  /** Whether a deleted response is being removed, so that no new response may need it. */
  readonly isRemoved?: boolean;
  readonly content: string;
}

export function keyOf(projectId: string, id: string): string {
  return `${projectId}/${id}`;
}
