import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
import { get } from '#operations/operation.ts';
import { listPage, nextCursorOutput, pageInput } from '#operations/paging.ts';
import { query } from '#operations/query.ts';
import { type AgentProfileDocument, agentProfiles } from '#projections/agent-profiles.ts';
import { type ProjectDocument, projects } from '#projections/projects.ts';

const Input = t.intersection([t.type({ projectId: cuid }), t.partial(pageInput)]);
const Output = t.intersection([t.type({ agentProfiles: t.readonlyArray(AgentProfileRecord) }), nextCursorOutput]);

export const listAgentProfiles = query<t.TypeOf<typeof Input>, ProjectDocument, t.TypeOf<typeof Output>>({
  name: 'list_agent_profiles',
  summary: "List a project's agent profiles",
  group: 'Agent profiles',
  http: get('/v1/projects/:projectId/agent-profiles'),
  scope: 'agent-profiles:read',
  input: Input,
  output: Output,
  failures: ['project-not-found'],
  example: { output: { agentProfiles: [examples.agentProfile] } },
  reads: [agentProfiles.name, projects.name],
  subject: { collection: projects.name, parameter: 'projectId', notFound: 'project-not-found' },
  paged: true,
  answer: async ({ input, subject, documents }) =>
    E.right(
      await listPage(documents, {
        collection: agentProfiles.name,
        where: { projectId: subject.id },
        input,
        name: 'agentProfiles',
        item: ({ value }: { value: AgentProfileDocument }) => value.record,
      }),
    ),
});
