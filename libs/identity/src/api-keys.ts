import { digestApiKey, looksLikeApiKey } from './api-key.js';
import { parseKeyFile, type ApiKeyEntry } from './api-key-file.js';
import { WatchedFile } from './watched-file.js';

/** The keys of one file, by digest. */
export class ApiKeys {
  private readonly file: WatchedFile<ReadonlyMap<string, ApiKeyEntry>>;

  /** @throws KeyFileError, or the error of reading the file */
  constructor(
    file: string,
    private readonly pepper: string,
    log: { warn(message: string): void; log(message: string): void },
  ) {
    this.file = new WatchedFile<ReadonlyMap<string, ApiKeyEntry>>({
      file,
      parse: (text) => new Map(parseKeyFile(file, text).map((entry) => [entry.digest, entry])),
      onBad: (problem) => {
        log.warn(`the keys stay as they were: ${problem}`);
      },
      onChange: (keys) => {
        log.log(`${keys.size} API keys after a change of ${file}`);
      },
    });
  }

  /**
   * A text that cannot be a key costs no hash. The look-up goes by a keyed digest, so its timing tells nothing about stored keys.
   */
  find(key: string): ApiKeyEntry | undefined {
    return looksLikeApiKey(key) ? this.file.current.get(digestApiKey(this.pepper, key)) : undefined;
  }

  close(): void {
    this.file.close();
  }
}
