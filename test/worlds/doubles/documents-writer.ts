import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import { declaredIndex } from '#read-store/indexable-fields.ts';
import type { ReadStoreNotes } from '#read-store/notes.ts';
import type { Checkpoints, PositionsWriter, ProjectionPositions } from '#read-store/published-positions.ts';
import type {
  CollectionDefinition,
  CollectionGenerations,
  FoldedDocument,
  Generation,
  GenerationCommit,
  OperatorState,
  ProjectionStatus,
  ReadStoreWriter,
} from '#read-store/read-store.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { applyWrite, type KeptGeneration } from './kept-documents.ts';
import type { SharedDocuments } from './shared-documents.ts';

/** As on MongoDB: how long a writer relies on the last check that no other node has taken over. */
const heldTrustedMs = 1_000;

/** The writing side of the read models of a world, with the token of a lease. */
export class DocumentsWriter implements ReadStoreWriter, PositionsWriter {
  readonly #documents: SharedDocuments;
  readonly #notes: ReadStoreNotes;
  readonly #fence: number;
  /** The checkpoints of the writer before, once they can no longer change. */
  #inherited: Promise<Checkpoints> | null = null;
  readonly #storedUpTo = new Map<string, Map<number, number>>();
  #heldAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(documents: SharedDocuments, notes: ReadStoreNotes, fence: number) {
    this.#documents = documents;
    this.#notes = notes;
    this.#fence = fence;
  }

  async generations(name: string): Promise<CollectionGenerations> {
    await this.#open();
    this.#documents.take(name, this.#fence);
    const current = await this.#generationOf(this.#documents.current(name));
    return { current, filling: await this.#generationOf(this.#documents.filling(name)) };
  }

  async begin(definition: CollectionDefinition, begunAt: number): Promise<Generation> {
    await this.#open();
    const { documents: _, ...begun } = this.#documents.begin(definition, begunAt, this.#fence);
    return { ...begun, checkpoint: 0 };
  }

  async read(generation: Generation, ids: ReadonlyArray<string>): Promise<ReadonlyMap<string, FoldedDocument>> {
    await this.#open();
    const documents = this.#documents.documentsOf(generation);
    const found = new Map<string, FoldedDocument>();
    for (const id of ids) {
      const kept = documents.get(id);
      if (kept === undefined) continue;
      const { order, position, text } = kept;
      found.set(id, { order, position, value: text === null ? null : JSON.parse(text), bytes: text?.length ?? 0 });
    }
    return found;
  }

  /** Also a late commit does no harm, because the positions of documents guard them. */
  async commit(commits: ReadonlyArray<GenerationCommit>): Promise<void> {
    await this.#open();
    for (const { generation, writes, checkpoint } of commits) {
      for (const write of writes) if (write.kind === 'delete-where') declaredIndex(generation.indexes, write.where);
      if (clock.now() - this.#heldAt >= heldTrustedMs) this.#ensureHeld(generation);
      for (const write of writes) applyWrite(write, this.#documents.documentsOf(generation));
      this.#storedUp(generation.name, generation.number, checkpoint);
    }
  }

  async readOfLog(): Promise<ReadOfLog> {
    await this.#open();
    return this.#notes.readOfLog();
  }

  async finish(generation: Generation): Promise<void> {
    await this.#open();
    this.#ensureHeld(generation);
  }

  async publish({ name, number }: Generation): Promise<void> {
    await this.#open();
    this.#documents.publish(name, number, this.#fence);
  }

  async dropOthers(names: ReadonlyArray<string>): Promise<void> {
    await this.#open();
    this.#documents.dropOthers(names, this.#fence);
  }

  async operatorState(): Promise<OperatorState> {
    await this.#open();
    return this.#notes.operatorState();
  }

  async saveOperatorState(state: OperatorState): Promise<void> {
    await this.#open();
    await this.#notes.saveOperatorState(state);
  }

  async saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void> {
    await this.#open();
    await this.#notes.saveStatus(statuses);
  }

  async savePositions(positions: ProjectionPositions): Promise<void> {
    const inherited = await this.#open();
    for (const { name, generation, position } of positions.projections) this.#storedUp(name, generation, position);
    const own = Array.from(this.#storedUpTo, ([name, of]) => [name, Object.fromEntries(of)] as const);
    const sentAt = clock.now();
    await this.#notes.savePositions(positions, { ...inherited, ...Object.fromEntries(own) });
    this.#heldAt = sentAt;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** Reads the checkpoints, after which no older writer can change them. @throws FencedError */
  #open(): Promise<Checkpoints> {
    if (this.#isClosed) throw new UnavailableError('The writer of the read store is closed.');
    this.#inherited ??= this.#inherit().catch((error: unknown) => {
      this.#inherited = null;
      throw error;
    });
    return this.#inherited;
  }

  async #inherit(): Promise<Checkpoints> {
    await this.#notes.takeOver();
    return this.#notes.checkpoints();
  }

  async #generationOf(kept: KeptGeneration | null): Promise<Generation | null> {
    if (kept === null) return null;
    const { documents: _, ...generation } = kept;
    const { name, number } = generation;
    const inherited = (await this.#open())[name]?.[number] ?? 0;
    this.#storedUp(name, number, inherited);
    return { ...generation, checkpoint: this.#storedUpTo.get(name)?.get(number) ?? inherited };
  }

  #ensureHeld(generation: Generation): void {
    this.#documents.existing(generation, this.#fence);
    this.#heldAt = clock.now();
  }

  #storedUp(name: string, number: number, position: number): void {
    const of = this.#storedUpTo.get(name) ?? new Map<number, number>();
    this.#storedUpTo.set(name, of.set(number, Math.max(of.get(number) ?? 0, position)));
  }
}
