"""The questions; their numbers stay what they are."""

QUESTIONS: dict[int, str] = {
    1: "In what city were you born?",
    2: "What was the name of your first pet?",
    3: "What was the name of your first school?",
    4: "What was the first concert that you went to?",
    5: "What was the make of your first car?",
    6: "What was the name of the street where you grew up?",
    7: "What is your oldest cousin's first name?",
    8: "What was the last name of your favorite teacher?",
    9: "What was the first film that you saw in a theater?",
    10: "In what city did your parents meet?",
    11: "What was the title of the first book that you loved?",
    12: "Where did you go on your first journey abroad?",
}

ANSWERED = 3
"""How many a user answers."""
