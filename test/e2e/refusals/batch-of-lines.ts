import { expectStatus } from '#test/e2e/support/expect.ts';
import { uploadText } from '#test/e2e/support/upload.ts';
import { eventually } from '#test/support/run/eventually.ts';
import type { AskedService, AskingProject } from './asking-project.ts';
import { type Answer, codeOfError, lineOf, type Reason } from './callers.ts';

interface Batch {
  readonly id: string;
  readonly status: string;
  readonly errors: { readonly data: ReadonlyArray<{ readonly code: string }> } | null;
  readonly request_counts: { readonly completed: number; readonly failed: number };
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
}

interface AnsweredLine {
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly body: { readonly error?: { readonly code: string } };
  } | null;
}

/** A batch whose lines each earn two refusals. The operator reads it: the limits of its project are reached. */
export class BatchOfLines {
  readonly #service: AskedService;
  readonly #id: string;
  readonly #lines: number;

  private constructor(service: AskedService, id: string, lines: number) {
    this.#service = service;
    this.#id = id;
    this.#lines = lines;
  }

  static async begin(
    service: AskedService,
    project: AskingProject,
    lines: ReadonlyArray<readonly [Reason, Reason]>,
  ): Promise<BatchOfLines> {
    const client = service.admin.as(project.key);
    const input = lines.map((reasons, index) => `${lineOf(String(index), new Set(reasons))}\n`).join('');
    const { id } = await uploadText(client, input, { filename: 'lines.jsonl', purpose: 'batch' });
    const endpoint = '/v1/chat/completions';
    const created = await client.post<Batch>('/v1/batches', { input_file_id: id, endpoint, completion_window: '24h' });
    return new BatchOfLines(service, expectStatus(created, 200).id, lines.length);
  }

  /** The number of its lines that are answered. */
  async count(): Promise<number> {
    const { completed, failed } = (await this.#read()).request_counts;
    return completed + failed;
  }

  /** Waits for its end. @returns why it failed */
  async ended(): Promise<ReadonlyArray<string>> {
    const batch = await eventually(async () => {
      const now = await this.#read();
      return now.status === 'completed' || (now.status === 'failed' && now.errors !== null) ? now : null;
    }, 'the end of the batch');
    return (batch.errors?.data ?? []).map(({ code }) => code);
  }

  /** The answers to its lines; null without one. */
  async answers(): Promise<ReadonlyArray<Answer | null>> {
    const { output_file_id: output, error_file_id: errors } = await this.#read();
    const answers: (Answer | null)[] = Array.from({ length: this.#lines }, () => null);
    for (const file of [output, errors]) {
      if (file === null) continue;
      const { text } = await this.#service.admin.get(`/v1/files/${file}/content`);
      for (const line of text.trimEnd().split('\n')) {
        const { custom_id: id, response } = JSON.parse(line) as AnsweredLine;
        if (response !== null) answers[Number(id)] = `${response.status_code} ${codeOfError(response.body)}`;
      }
    }
    return answers;
  }

  async #read(): Promise<Batch> {
    return expectStatus(await this.#service.admin.get<Batch>(`/v1/batches/${this.#id}`), 200);
  }
}
