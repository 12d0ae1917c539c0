# Runs while the interpreter's machine code is made, so that what most programs use is part of it.
import collections
import csv
import datetime
import decimal
import functools
import io
import itertools
import json
import math
import random
import re
import statistics
from dataclasses import dataclass


@dataclass
class Item:
    name: str
    price: float
    tags: tuple = ()


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def numbers():
    for value in range(50):
        yield value * value % 7


items = [Item(f"item {index:02d}", random.random() * index, ("a", "b")) for index in range(20)]
items.sort(key=lambda item: (-item.price, item.name))
groups = collections.defaultdict(list)
for value in numbers():
    groups[value].append(str(value))
counts = collections.Counter(itertools.chain.from_iterable(groups.values()))
text = json.dumps({"groups": groups, "counts": counts.most_common(3), "pi": math.pi}, indent=2, sort_keys=True)
parsed = json.loads(text)
words = re.findall(r"[a-z]+", re.sub(r"\d+", "n", text), re.IGNORECASE)
rows = list(csv.DictReader(io.StringIO("name,price\na,1.5\nb,2\n")))
total = functools.reduce(lambda sum, row: sum + decimal.Decimal(row["price"]), rows, decimal.Decimal(0))
spread = statistics.mean([1, 2, 4]), statistics.stdev([1, 2, 4])
day = datetime.date(2024, 2, 28) + datetime.timedelta(days=2)
with open("/output/sample.txt", "w") as out:
    out.write("\n".join(sorted(set(words))))
try:
    {}["missing"]
except KeyError as error:
    print(repr(error), "ä€".encode(), text.upper().split()[:3], 2**100 // 3, 7 / 3, hex(255))
table = [[row * column for column in range(12)] for row in range(12)]
[fibonacci(12), sum(map(sum, table)), str(total), spread, day.isoformat(), f"{math.sqrt(2):.3f}", isinstance(items[0], Item)]
