<?php
// Looks up one address: php php.php POSTCODE HUISNUMMER [TOEVOEGING]
// Wants BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and PHP 8.1 or newer with its curl extension.
declare(strict_types=1);

$url = getenv('BAG_ADRES_URL') . '/v1/address?' . http_build_query([
    'postcode' => $argv[1] ?? '',
    'huisnummer' => $argv[2] ?? '',
    'toevoeging' => $argv[3] ?? '',
]);

/** Asks once, and twice more when the service says that a short wait helps. */
function ask(string $url, int $triesLeft = 2): array
{
    $headers = [];
    $curl = curl_init($url);
    curl_setopt_array($curl, [
        CURLOPT_HTTPHEADER => ['X-API-Key: ' . getenv('BAG_ADRES_KEY')],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 10,
        CURLOPT_HEADERFUNCTION => function ($curl, string $header) use (&$headers): int {
            [$name, $value] = explode(':', $header, 2) + [1 => ''];
            $headers[strtolower(trim($name))] = trim($value);
            return strlen($header);
        },
    ]);
    $body = curl_exec($curl);
    if ($body === false) {
        throw new RuntimeException(curl_error($curl));
    }
    $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
    $wait = (int) ($headers['retry-after'] ?? PHP_INT_MAX);
    if ($status === 200 || $triesLeft === 0 || $wait > 30) {
        return [$status, json_decode($body, true, flags: JSON_THROW_ON_ERROR)];
    }
    sleep($wait);
    return ask($url, $triesLeft - 1);
}

function line(array $place): string
{
    return "{$place['straat']}, {$place['woonplaats']}";
}

[$status, $answer] = ask($url);
if ($status !== 200) {
    $faults = array_column($answer['errors'] ?? [], 'detail');
    fwrite(STDERR, implode("\n", ["$status {$answer['title']}: {$answer['detail']}", ...$faults]) . "\n");
    exit(1);
}
echo match ($answer['status']) {
    'ok' => line($answer['address']),
    'ambiguous' => 'several: ' . implode('; ', array_map('line', $answer['candidates'])),
    default => 'no such address',
}, "\n";
