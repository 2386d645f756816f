import { installPackages } from '../install-packages.ts';
import { print } from '../measure.ts';

/** The used part of emmett's event store. */
interface EmmettEventStore {
  readonly schema: { migrate(): Promise<void> };
  appendToStream(
    stream: string,
    events: ReadonlyArray<{ readonly type: string; readonly data: object }>,
    options: { readonly expectedStreamVersion: bigint },
  ): Promise<unknown>;
}

/** emmett's event store on SQLite with one writer, because several concurrent writers block each other. */
export class EmmettSqlite {
  readonly #store: EmmettEventStore;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(store: EmmettEventStore) {
    this.#store = store;
  }

  /**
   * Installs emmett-sqlite beside this file when it is not there yet, and opens a store.
   * @returns null when it is not available here; the reason is printed
   */
  static async open(file: string): Promise<EmmettSqlite | null> {
    try {
      // The name is known only at run time, because Switchyard does not depend on the package.
      const name = '@event-driven-io/emmett-sqlite';
      installPackages(import.meta.dirname, name);
      const { getSQLiteEventStore, sqliteConnection } = await import(name);
      const store: EmmettEventStore = getSQLiteEventStore({
        fileName: file,
        schema: { autoMigration: 'None' },
        // One kept connection. By default the store opens a new one for every append, at a sixth of the speed.
        connectionOptions: { singleton: true, connection: sqliteConnection({ fileName: file }) },
      });
      await store.schema.migrate();
      return new EmmettSqlite(store);
    } catch (error) {
      print(`emmett-sqlite cannot be measured here: ${error instanceof Error ? error.message : error}`);
      return null;
    }
  }

  /** Appends after all earlier appends. @param revision the stream's current revision; -1 for a new stream */
  append(stream: string, revision: number, type: string, data: object): Promise<unknown> {
    const append = () =>
      this.#store.appendToStream(stream, [{ type, data }], { expectedStreamVersion: BigInt(revision + 1) });
    this.#last = this.#last.then(append);
    return this.#last;
  }
}
