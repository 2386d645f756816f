import type { FollowedPosition, FollowerInfo, FollowerKind, PositionSink } from '#positions/positions.ts';
import { poll } from '#test/support/run/poll.ts';

/** Collects what followers report, and lets a test wait for it. */
export class FollowedPositions implements PositionSink {
  declared: ReadonlyArray<FollowerInfo> = [];
  positions: ReadonlyMap<string, FollowedPosition> = new Map();
  /** The process, the position of the cause and the position of the append of each effect. */
  readonly effects: Array<readonly [string, number, number]> = [];

  declare(_kind: FollowerKind, followers: ReadonlyArray<FollowerInfo>): void {
    this.declared = followers;
  }

  update(_kind: FollowerKind, positions: ReadonlyMap<string, FollowedPosition>): void {
    this.positions = positions;
  }

  recordEffect(process: string, causePosition: number, appendedPosition: number): void {
    this.effects.push([process, causePosition, appendedPosition]);
  }

  /** Waits until a follower has passed a position. @returns false after the time limit */
  async passed(name: string, position: number, timeoutMs: number): Promise<boolean> {
    return (await poll(() => (this.positions.get(name)?.position ?? 0) >= position, timeoutMs)) === true;
  }

  /** Whether callers wait for a follower. */
  isLive(name: string): boolean {
    return this.positions.get(name)?.live === true;
  }
}
