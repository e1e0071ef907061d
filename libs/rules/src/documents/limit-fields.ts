import { Type } from 'class-transformer';
import { Equals, IsInt, IsOptional, Max, Min, ValidateBy, ValidateNested } from 'class-validator';
import { LATER_KINDS, type LimitOptions } from '../limits/limit.js';
import { isUsableRate, readRate } from '../limits/rate.js';
import { LaterVersion } from './constraints.js';
import { SchemaPart } from './schema-part.js';

const CAPACITY = 'a whole number of tokens, 0 (refuses everything) to 9000000000';
const RATE = 'tokens per second as a number or a fraction such as 1/3600, from 1/2592000 (one in 30 days) to 1000000';

function rateAllowed(given: unknown): string {
  if (given === 0) return `${RATE}; what refuses everything is capacity: 0`;
  const exact = typeof given !== 'number' || given < 1 / 2_592_000 || given > 1_000_000;
  return exact ? RATE : `${RATE}; what has that many digits is a fraction of small integers, such as 1/3`;
}

/** `tokenBucket: { capacity: 40, refillPerSecond: 20 }` */
export class TokenBucketFields {
  @IsInt({ message: CAPACITY })
  @Min(0, { message: CAPACITY })
  @Max(9_000_000_000, { message: CAPACITY })
  readonly capacity!: number;

  @ValidateBy({
    name: 'isRate',
    validator: {
      validate: (value: unknown) => {
        if (typeof value !== 'number' && typeof value !== 'string') return false;
        const rate = readRate(value);
        return rate !== undefined && isUsableRate(rate);
      },
      defaultMessage: (args) => rateAllowed(args?.value),
    },
  })
  @SchemaPart({
    oneOf: [
      { type: 'number', exclusiveMinimum: 0 },
      { type: 'string', pattern: '^[0-9]{1,15}/[0-9]{1,15}$' },
    ],
    description: RATE,
  })
  readonly refillPerSecond!: number | string;
}

/** Exactly one kind of limit: a new kind joins here with its class, and the tables of `limits/limit.ts`. */
export class LimitFields implements LimitOptions {
  @IsOptional()
  @ValidateNested({ message: 'a mapping with capacity and refillPerSecond' })
  @Type(() => TokenBucketFields)
  readonly tokenBucket?: TokenBucketFields;

  @IsOptional()
  @Equals(true, { message: 'true' })
  @SchemaPart({ const: true })
  readonly unlimited?: true;
}
for (const kind of LATER_KINDS) {
  LaterVersion(`${kind} is not supported in this version; tokenBucket and unlimited are`)(LimitFields.prototype, kind);
}
