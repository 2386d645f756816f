import { type Failure, failure } from '#domain/shared/failure.ts';

export interface ByteLimits {
  /** Maximum size of what one project holds. */
  readonly maxBytesPerProject: number;
  /** Maximum size of what all projects together hold. */
  readonly maxBytes: number;
}

/** Whose limit was exceeded. */
export type ByteShortage = 'project' | 'node';

/** The bytes of a project. They exist while a reservation of the project has bytes or is unfinished. */
interface ProjectBytes {
  bytes: number;
  readonly unfinished: Set<ByteReservation>;
}

/** Counts the bytes that requests hold, for each project and in total, and limits both. */
export class ByteBudget {
  readonly #limits: ByteLimits;
  readonly #projects = new Map<string, ProjectBytes>();
  #bytes = 0;
  #refused = 0;

  constructor(limits: ByteLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get refused(): number {
    return this.#refused;
  }

  get maxBytes(): number {
    return this.#limits.maxBytes;
  }

  get maxBytesPerProject(): number {
    return this.#limits.maxBytesPerProject;
  }

  bytesOf(projectId: string): number {
    return this.#projects.get(projectId)?.bytes ?? 0;
  }

  get projects(): number {
    return this.#projects.size;
  }

  /** Says that the project, or the node, holds all bytes that it may. Null if something new may begin. */
  fullFor(projectId: string): ByteShortage | null {
    if (this.bytesOf(projectId) >= this.#limits.maxBytesPerProject) return this.#refuse('project');
    return this.#bytes >= this.#limits.maxBytes ? this.#refuse('node') : null;
  }

  /** True if there is room for more bytes of something that has begun. Counts a refusal if there is none. */
  hasRoomFor(bytes: number): boolean {
    if (!this.#lacksRoomFor(bytes)) return true;
    this.#refuse('node');
    return false;
  }

  /** Makes a reservation without bytes. It must be released in the end. */
  hold(projectId: string): ByteReservation {
    return new ByteReservation(this, projectId);
  }

  /** Only for `ByteReservation`. */
  shortageOf(hold: ByteReservation, bytes: number): ByteShortage | null {
    const shortage = this.#shortageOf(hold, bytes);
    return shortage === null ? null : this.#refuse(shortage);
  }

  #shortageOf(hold: ByteReservation, bytes: number): ByteShortage | null {
    if (this.bytesOf(hold.projectId) + bytes > this.#limits.maxBytesPerProject) return 'project';
    if (bytes > this.#limits.maxBytes) return 'node';
    return this.#lacksRoomFor(bytes) && this.#victimFor(hold, bytes) === null ? 'node' : null;
  }

  /** Only for `ByteReservation`. */
  take(hold: ByteReservation, bytes: number): ByteShortage | null {
    const shortage = this.shortageOf(hold, bytes);
    if (shortage !== null) return shortage;
    while (this.#lacksRoomFor(bytes)) {
      const victim = this.#victimFor(hold, bytes);
      if (victim === null) return this.#refuse('node');
      victim.evict();
    }
    this.count(hold.projectId, bytes);
    return null;
  }

  /**
   * Only for `ByteReservation`.
   * @param bytes more; less when negative
   */
  count(projectId: string, bytes: number): void {
    this.#bytes += bytes;
    const project = this.#entryOf(projectId);
    project.bytes += bytes;
    this.#dropIfIdle(projectId, project);
  }

  /** Only for `ByteReservation`. */
  beginUnfinished(hold: ByteReservation): void {
    this.#entryOf(hold.projectId).unfinished.add(hold);
  }

  /** Only for `ByteReservation`. */
  endUnfinished(hold: ByteReservation): void {
    const project = this.#projects.get(hold.projectId);
    if (project === undefined) return;
    project.unfinished.delete(hold);
    this.#dropIfIdle(hold.projectId, project);
  }

  #refuse(shortage: ByteShortage): ByteShortage {
    this.#refused += 1;
    return shortage;
  }

  #entryOf(projectId: string): ProjectBytes {
    const known = this.#projects.get(projectId);
    if (known !== undefined) return known;
    const entry: ProjectBytes = { bytes: 0, unfinished: new Set() };
    this.#projects.set(projectId, entry);
    return entry;
  }

  #dropIfIdle(projectId: string, { bytes, unfinished }: ProjectBytes): void {
    if (bytes === 0 && unfinished.size === 0) this.#projects.delete(projectId);
  }

  #lacksRoomFor(bytes: number): boolean {
    return this.#bytes + bytes > this.#limits.maxBytes;
  }

  /**
   * The largest unfinished hold of the project that holds most; null unless that project holds more than the requesting
   * one would.
   */
  #victimFor({ projectId }: ByteReservation, bytes: number): ByteReservation | null {
    let most = this.bytesOf(projectId) + bytes;
    let victim: ByteReservation | null = null;
    for (const project of this.#projects.values()) {
      if (project.bytes <= most) continue;
      const largest = largestOf(project.unfinished);
      if (largest === null) continue;
      most = project.bytes;
      victim = largest;
    }
    return victim;
  }
}

function largestOf(holds: ReadonlySet<ByteReservation>): ByteReservation | null {
  let largest: ByteReservation | null = null;
  for (const hold of holds) if (hold.bytes > (largest?.bytes ?? 0)) largest = hold;
  return largest;
}

/** The bytes of one request. They count until they are returned or released. */
export class ByteReservation {
  readonly projectId: string;
  readonly #budget: ByteBudget;
  #bytes = 0;
  #onEvicted: (() => void) | null = null;
  #isReleased = false;

  constructor(budget: ByteBudget, projectId: string) {
    this.#budget = budget;
    this.projectId = projectId;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The maximum of all reservations of the project. */
  get maxProjectBytes(): number {
    return this.#budget.maxBytesPerProject;
  }

  /** The shortage; null if there is room. Takes nothing, but counts a refusal. */
  shortageOf(bytes: number): ByteShortage | null {
    return this.#isReleased ? 'node' : this.#budget.shortageOf(this, bytes);
  }

  /**
   * If the node is full, unfinished holds of projects that hold more are evicted first.
   * @returns why there is no room for them; null if they are counted
   */
  take(bytes: number): ByteShortage | null {
    if (this.#isReleased) return 'node';
    const shortage = this.#budget.take(this, bytes);
    if (shortage === null) this.#bytes += bytes;
    return shortage;
  }

  /**
   * Takes more bytes of something that has begun, so only the node's limit counts. Evicts nothing.
   * @returns whether the node has room for them; if not, they are not counted
   */
  takeBegun(bytes: number): boolean {
    if (this.#isReleased || !this.#budget.hasRoomFor(bytes)) return false;
    this.resize(this.#bytes + bytes);
    return true;
  }

  /** Counts exactly this many bytes from now on, whatever the limits are: they are in memory already. */
  resize(bytes: number): void {
    if (this.#isReleased || bytes === this.#bytes) return;
    this.#budget.count(this.projectId, bytes - this.#bytes);
    this.#bytes = bytes;
  }

  giveBack(bytes: number): void {
    const given = Math.min(bytes, this.#bytes);
    this.#bytes -= given;
    this.#budget.count(this.projectId, -given);
  }

  /**
   * Begins the hold. Until `finish` it may be evicted to make room.
   * @param onEvicted called once on eviction; the bytes no longer count, and the hold gets no more
   */
  begin(onEvicted: () => void): void {
    if (this.#isReleased) return;
    this.#onEvicted = onEvicted;
    this.#budget.beginUnfinished(this);
  }

  finish(): void {
    if (this.#onEvicted === null) return;
    this.#onEvicted = null;
    this.#budget.endUnfinished(this);
  }

  /** Releases the bytes permanently. May be called again. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.finish();
    this.giveBack(this.#bytes);
  }

  evict(): void {
    const onEvicted = this.#onEvicted;
    this.release();
    onEvicted?.();
  }
}

const retryAfterSeconds = 1;

/** The failure of a request of a project whose answers take all bytes that they may. */
export const projectAnswersFull = failure(
  'too-many-answer-bytes',
  'The answers to this project’s requests take all bytes that they may, until they are read. Read them, then try again.',
  { retryAfterSeconds },
);

/** The failure of an answer for which this node has no room. */
export const answersFull = failure(
  'answers-full',
  'The answers to all requests take all bytes that this node has room for. Try again later.',
  { retryAfterSeconds },
);

/** The failure of a request that may not begin, because too many bytes of answers wait for their clients. */
export function answerShortageFailure(shortage: ByteShortage): Failure {
  return shortage === 'project' ? projectAnswersFull : answersFull;
}
