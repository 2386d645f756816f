import type { IncomingMessage } from 'node:http';
import type { Arrival } from '#exchange/body.ts';

export class ArrivingBody {
  readonly projectId: string;
  readonly req: IncomingMessage;
  readonly end: (how: Arrival) => void;
  #measuredFrom = performance.now();
  #bytesBefore: number;

  constructor(projectId: string, req: IncomingMessage, end: (how: Arrival) => void) {
    this.projectId = projectId;
    this.req = req;
    this.end = end;
    this.#bytesBefore = req.socket.bytesRead;
  }

  /** Whether too little has arrived since it was last measured. A body that the service holds back is never slow. */
  isSlow({ minBytesPerSecond, measuredMs }: BodyRate): boolean {
    const isHeldBack = this.req.isPaused();
    const now = performance.now();
    const tookMs = now - this.#measuredFrom;
    if (tookMs < measuredMs && !isHeldBack) return false;
    const bytes = this.req.socket.bytesRead;
    const tooFew = bytes - this.#bytesBefore < (minBytesPerSecond * tookMs) / 1_000;
    this.#measuredFrom = now;
    this.#bytesBefore = bytes;
    return tooFew && !isHeldBack;
  }
}

/** The minimum rate of bodies, which applies while connections are scarce. */
export interface BodyRate {
  readonly minBytesPerSecond: number;
  readonly measuredMs: number;
}

export class ArrivingBodies {
  /** The bodies of each project, of which the newest is last. */
  readonly #byProject = new Map<string, Set<ArrivingBody>>();

  get size(): number {
    let size = 0;
    for (const bodies of this.#byProject.values()) size += bodies.size;
    return size;
  }

  /** The caller must call `finish`. */
  begin(projectId: string, req: IncomingMessage, end: (how: Arrival) => void): ArrivingBody {
    const body = new ArrivingBody(projectId, req, end);
    const bodies = this.#byProject.get(projectId) ?? new Set();
    bodies.add(body);
    this.#byProject.set(projectId, bodies);
    return body;
  }

  has(body: ArrivingBody): boolean {
    return this.#byProject.get(body.projectId)?.has(body) === true;
  }

  finish(body: ArrivingBody): void {
    const bodies = this.#byProject.get(body.projectId);
    if (bodies === undefined) return;
    bodies.delete(body);
    if (bodies.size === 0) this.#byProject.delete(body.projectId);
  }

  hasShare(projectId: string, places: number): boolean {
    return (this.#byProject.get(projectId)?.size ?? 0) >= this.#shareOf(places);
  }

  /** The body that makes room for others: the newest of the project with most bodies, if they exceed its share. */
  newestBeyondShare(places: number): ArrivingBody | null {
    let most = this.#shareOf(places);
    let largest: ReadonlySet<ArrivingBody> | null = null;
    for (const bodies of this.#byProject.values()) {
      if (bodies.size <= most) continue;
      most = bodies.size;
      largest = bodies;
    }
    return largest === null ? null : newestOf(largest);
  }

  /** One project alone may have half of the places, two a third each: there is always room for another one. */
  #shareOf(places: number): number {
    return places / (this.#byProject.size + 1);
  }

  slowBodies(rate: BodyRate): ReadonlyArray<ArrivingBody> {
    const slow: ArrivingBody[] = [];
    for (const bodies of this.#byProject.values()) {
      for (const body of bodies) if (body.isSlow(rate)) slow.push(body);
    }
    return slow;
  }
}

function newestOf(bodies: ReadonlySet<ArrivingBody>): ArrivingBody | null {
  return [...bodies].at(-1) ?? null;
}
