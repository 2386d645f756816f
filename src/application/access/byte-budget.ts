/** How many bytes may be held at once. */
export interface ByteLimits {
  /** By one project. */
  readonly maxBytesPerProject: number;
  /** By all projects together. */
  readonly maxBytes: number;
}

/** Whose limit leaves no room: the project's own, or the one of the whole node. */
export type ByteShortage = 'project' | 'node';

/** The bytes that one request holds. They count until they are given back or released. */
export interface ByteHold {
  /** Whether so many bytes more would find no room now; null when they would. Counts nothing. */
  shortageOf(bytes: number): ByteShortage | null;
  /**
   * Counts so many bytes more. Where the node is full, unfinished holds of projects that hold more are evicted first.
   * @returns why there is no room for them; null when they are counted
   */
  take(bytes: number): ByteShortage | null;
  /** So many bytes are held no more. */
  giveBack(bytes: number): void;
  /**
   * From now on until `finish` what is held is unfinished: it may be evicted to make room.
   * @param onEvicted called once, when that happens; its bytes no longer count, and it gets no more
   */
  begin(onEvicted: () => void): void;
  /** All has come: it is not evicted any more. */
  finish(): void;
  /** Nothing is held any more, nor will be. May be called again. */
  release(): void;
}

/** What a project holds. It has an entry while one of its holds has bytes or is unfinished. */
interface ProjectBytes {
  bytes: number;
  readonly unfinished: Set<Hold>;
}

/** Counts the bytes that requests hold, by project and in all, and keeps both within limits. Does no I/O. */
export class ByteBudget {
  readonly #limits: ByteLimits;
  readonly #projects = new Map<string, ProjectBytes>();
  #bytes = 0;

  constructor(limits: ByteLimits) {
    this.#limits = limits;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes that a project holds now. */
  bytesOf(projectId: string): number {
    return this.#projects.get(projectId)?.bytes ?? 0;
  }

  /** Projects that are counted now. */
  get projects(): number {
    return this.#projects.size;
  }

  /** Makes a hold of a project, with no bytes yet. It must be released in the end. */
  hold(projectId: string): ByteHold {
    return new Hold(this, projectId);
  }

  /** For `Hold` alone. */
  shortageOf(hold: Hold, bytes: number): ByteShortage | null {
    if (this.bytesOf(hold.projectId) + bytes > this.#limits.maxBytesPerProject) return 'project';
    if (bytes > this.#limits.maxBytes) return 'node';
    return this.#lacksRoomFor(bytes) && this.#victimFor(hold, bytes) === null ? 'node' : null;
  }

  /** For `Hold` alone. */
  take(hold: Hold, bytes: number): ByteShortage | null {
    const shortage = this.shortageOf(hold, bytes);
    if (shortage !== null) return shortage;
    while (this.#lacksRoomFor(bytes)) {
      const victim = this.#victimFor(hold, bytes);
      if (victim === null) return 'node';
      victim.evict();
    }
    this.count(hold.projectId, bytes);
    return null;
  }

  /** For `Hold` alone. @param bytes more; less when negative */
  count(projectId: string, bytes: number): void {
    this.#bytes += bytes;
    const project = this.#entryOf(projectId);
    project.bytes += bytes;
    this.#dropIfIdle(projectId, project);
  }

  /** For `Hold` alone. */
  beginUnfinished(hold: Hold): void {
    this.#entryOf(hold.projectId).unfinished.add(hold);
  }

  /** For `Hold` alone. */
  endUnfinished(hold: Hold): void {
    const project = this.#projects.get(hold.projectId);
    if (project === undefined) return;
    project.unfinished.delete(hold);
    this.#dropIfIdle(hold.projectId, project);
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

  /** The largest unfinished hold of the project that holds most; null unless that is more than the asker then would. */
  #victimFor({ projectId }: Hold, bytes: number): Hold | null {
    let most = this.bytesOf(projectId) + bytes;
    let victim: Hold | null = null;
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

function largestOf(holds: Iterable<Hold>): Hold | null {
  let largest: Hold | null = null;
  for (const hold of holds) if (hold.bytes > (largest?.bytes ?? 0)) largest = hold;
  return largest;
}

class Hold implements ByteHold {
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

  shortageOf(bytes: number): ByteShortage | null {
    return this.#isReleased ? 'node' : this.#budget.shortageOf(this, bytes);
  }

  take(bytes: number): ByteShortage | null {
    if (this.#isReleased) return 'node';
    const shortage = this.#budget.take(this, bytes);
    if (shortage === null) this.#bytes += bytes;
    return shortage;
  }

  giveBack(bytes: number): void {
    const given = Math.min(bytes, this.#bytes);
    this.#bytes -= given;
    this.#budget.count(this.projectId, -given);
  }

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
