import { randomUUID } from 'node:crypto';
import type { ProjectFile } from '#application/files/project-file.ts';
import {
  type Arrival,
  type ArrivalLimits,
  type Body,
  heldBytesOf,
  readNothing,
  type TakePiece,
} from '#exchange/body.ts';
import type { ByteReservation } from '#exchange/byte-budget.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

export function formBody(
  fields: ReadonlyArray<readonly [string, string]>,
  file: ProjectFile,
): { readonly contentType: string; readonly body: Body } {
  const boundary = `switchyard-${randomUUID()}`;
  const before = Buffer.from(
    fields.map(([name, value]) => `${head(boundary, name)}\r\n\r\n${value}\r\n`).join('') +
      `${head(boundary, 'file')}; filename="${quoted(file.filename)}"\r\nContent-Type: ${file.contentType}\r\n\r\n`,
  );
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: new StreamedBody(before, file, after),
  };
}

function head(boundary: string, name: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
}

function quoted(text: string): string {
  return text.replace(/["\\\r\n]/g, (character) => encodeURIComponent(character));
}

class StreamedBody implements Body {
  readonly isPresent = true;
  readonly readInput = readNothing;
  readonly announcedBytes: number;
  readonly #before: Buffer;
  readonly #file: ProjectFile;
  readonly #after: Buffer;

  constructor(before: Buffer, file: ProjectFile, after: Buffer) {
    this.#before = before;
    this.#file = file;
    this.#after = after;
    this.announcedBytes = before.length + file.bytes + after.length;
  }

  takeBuffered(): null {
    return null;
  }

  async receive(_limits: ArrivalLimits, reservation: ByteReservation, take: TakePiece): Promise<Arrival> {
    for await (const piece of this.#pieces()) {
      const shortage = reservation.take(heldBytesOf(piece));
      if (shortage !== null) return { shortage };
      if (!(await take(piece))) return 'stopped';
    }
    return 'whole';
  }

  async *#pieces(): AsyncGenerator<Buffer> {
    yield this.#before;
    const content = await this.#file.open();
    if (content === null) throw new UnavailableError('The content of the file is not in the blob store.');
    for await (const piece of content) yield piece as Buffer;
    yield this.#after;
  }
}
