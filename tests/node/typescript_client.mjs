// One connection of the official TypeScript client. Read from stdin: {mode, url} or {mode, command}, and the calls to
// make. Written to stdout: what the client was told of the server, its tools, and what came of each call.
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';

// Packages are looked for where this is run, which is where npm put them.
const require = createRequire(`${process.cwd()}/`);
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

const MODES = { legacy: 'legacy', auto: 'auto', '2026-07-28': { pin: '2026-07-28' } };

const { mode, url, command, env, calls } = JSON.parse(await text(process.stdin));
const client = new Client({ name: 'toolbooth-tests', version: '1' }, { versionNegotiation: { mode: MODES[mode] } });

function transport() {
  if (url) return new StreamableHTTPClientTransport(new URL(url));
  const [program, ...args] = command;
  return new StdioClientTransport({ command: program, args, env, stderr: 'ignore' });
}

async function outcome({ name, arguments: sent }) {
  const progress = [];
  const answers = [];
  const onprogress = (each) => {
    progress.push(each);
    answers.push(client.callTool({ name: 'go_on' }));
  };
  try {
    const result = await client.callTool({ name, arguments: sent }, { onprogress });
    await Promise.all(answers); // none may be open when the connection is closed
    return progress.length ? { result, progress } : { result };
  } catch ({ code, message, data }) {
    return { error: { code, message, data } };
  }
}

await client.connect(transport());
const told = {
  version: client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
};
const { tools } = await client.listTools();
const outcomes = [];
for (const call of calls) outcomes.push(await outcome(call));
await client.close();
console.log(JSON.stringify({ ...told, tools, outcomes }));
