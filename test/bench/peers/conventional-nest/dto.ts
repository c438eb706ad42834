import { Type } from 'class-transformer';
import { IsBoolean, IsDateString, IsInt, IsOptional, Max, Min } from 'class-validator';

export class ListPetsDto {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 20;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  offset: number = 0;
}

export class CreateOrderDto {
  @IsInt()
  @Min(1)
  petId!: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  quantity: number = 1;

  @IsOptional()
  @IsDateString()
  shipDate?: string;

  @IsOptional()
  @IsBoolean()
  complete: boolean = false;
}
