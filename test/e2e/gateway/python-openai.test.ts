import assert from 'node:assert/strict';
import { GatewayScenario } from '#test/e2e/support/gateway-scenario.ts';
import { completion, json } from '#test/gateway/support/fake-provider.ts';
import { adminKey } from '#test/support/service/admin-key.ts';
import { describeWithPythonClients, runPython } from '#test/support/service/python-clients.ts';

/** Every call of files and batches, with its expected result. */
const script = `
import io, json, openai, time

client = openai.OpenAI(max_retries=0)
lines = [
    {"custom_id": f"line-{n}", "method": "POST", "url": "/v1/chat/completions",
     "body": {"model": "alone", "messages": [{"role": "user", "content": str(n)}]}}
    for n in range(5)
]
content = "\\n".join(json.dumps(line) for line in lines).encode()
file = client.files.create(file=("input.jsonl", io.BytesIO(content)), purpose="batch")
batch = client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h",
                              metadata={"run": "one"})
deadline = time.monotonic() + 60
while batch.status not in ("completed", "failed", "expired", "cancelled") and time.monotonic() < deadline:
    time.sleep(0.05)
    batch = client.batches.retrieve(batch.id)
output = [json.loads(line) for line in client.files.content(batch.output_file_id).text.splitlines()]
try:
    client.batches.cancel(batch.id)
    cancelled = None
except openai.ConflictError as error:
    cancelled = error.code
deleted = client.files.delete(file.id)
try:
    client.files.retrieve(file.id)
    missing = None
except openai.NotFoundError as error:
    missing = error.code
print(json.dumps({
    "file": [file.object, file.bytes, file.filename, file.purpose],
    "batch": [batch.object, batch.status, batch.metadata, batch.request_counts.model_dump()],
    "output": sorted(line["custom_id"] for line in output),
    "answers": sorted({line["response"]["body"]["choices"][0]["message"]["content"] for line in output}),
    "batches": [each.id == batch.id for each in client.batches.list(limit=1)],
    "outputs": [each.id == batch.output_file_id for each in client.files.list(purpose="batch_output")],
    "cancelled": cancelled,
    "deleted": [deleted.deleted, deleted.id == file.id],
    "missing": missing,
    "bytes": len(content),
}))
`;

describeWithPythonClients('files and batches, by the official openai client for Python', () => {
  let story: GatewayScenario;
  before(async () => {
    story = await GatewayScenario.begin();
    story.primary.answers(json(completion('heard')));
  });
  after(() => story.end());

  it('work with the unchanged client', async () => {
    const environment = { OPENAI_API_KEY: adminKey, OPENAI_BASE_URL: story.baseURL };
    const { bytes, ...found } = JSON.parse(await runPython(script, environment)) as { readonly bytes: number };
    assert.deepEqual(found, {
      file: ['file', bytes, 'input.jsonl', 'batch'],
      batch: ['batch', 'completed', { run: 'one' }, { completed: 5, failed: 0, total: 5 }],
      output: ['line-0', 'line-1', 'line-2', 'line-3', 'line-4'],
      answers: ['heard'],
      batches: [true],
      outputs: [true],
      cancelled: 'batch_ended',
      deleted: [true, true],
      missing: 'file_not_found',
    });
  });
});
