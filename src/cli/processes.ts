import { describeStoppable, runStoppableTool } from './shared/stoppable-tool.ts';

const usage = `Usage: npm run processes -- <command>

  list                      the status of each process
  status                    how far each is in the log, its rate, and the time that it needs
  retry <name>              let a stopped one try its event again
  skip <name> <event id>    let a stopped one leave its event out

It talks to the service that runs on DATA_DIR, or opens the stores itself when none runs.
`;

await runStoppableTool({ name: 'processes', usage, describe: describeStoppable });
