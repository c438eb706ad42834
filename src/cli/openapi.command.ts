import { Command, Option } from 'nest-commander';
import { PetstoreCommand } from './command/command';
import { writeOutput } from './output/standard-output';

@Command({
  name: 'openapi',
  description: 'print the OpenAPI document; needs neither server nor database',
})
export class OpenapiCommand extends PetstoreCommand {
  protected override readonly examples = ['openapi > openapi.json', 'openapi --yaml'];

  @Option({ flags: '--yaml', description: 'as YAML instead of JSON' })
  parseYaml(): boolean {
    return true;
  }

  async run(_arguments: string[], { yaml }: { yaml?: boolean }): Promise<void> {
    const { describeInterface } = await import('./describe-interface.js');
    writeOutput(await describeInterface(yaml ? 'yaml' : 'json'));
  }
}
